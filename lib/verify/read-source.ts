import type { Cluster } from '../kafka/cluster.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { ExpectedRecords } from './history.ts'
import type { Progress } from './progress.ts'
import type { LogRange } from './read-batches.ts'
import { type LogRead, readLog } from './read-log.ts'

export interface SourceAsk extends LogRange {
  /** Index of the partition among all sources. */
  readonly source: number
  readonly committed: bigint
  readonly committedAfter: bigint
}

export interface SourceRead extends LogRead {
  /** In [from, committed). */
  readonly records: number
}

/** Makes of the source what it must have given. Takes partition after partition, each in order. */
export interface Expecting {
  take(ask: SourceAsk, records: readonly KafkaRecord[]): Promise<void>
  /** Of all that was taken so far. */
  readonly expected: ExpectedRecords
  /** Dead letters in the log whose record passes when it is transformed again. */
  readonly notReproduced: number
}

/** Reads what the relay reads, as read_committed, and expects of it what it must give. */
export async function readSource(
  cluster: Cluster,
  ask: SourceAsk,
  expecting: Expecting,
  progress: Progress,
): Promise<SourceRead> {
  let records = 0
  const read = await readLog(cluster, ask, progress, async (batch) => {
    const asked = batch.records().filter(({ offset }) => offset >= ask.from && offset < ask.until)
    for (const { offset } of asked) if (offset < ask.committed) records++
    await expecting.take(ask, asked)
  })
  return { ...read, records }
}
