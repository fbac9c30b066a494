import { type Clock, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { type KafkaRecord, type Output, tpKey } from '../kafka/record.ts'
import { type OutputSink, type RunningRelay, rejectionKey } from '../relay/compiled-relay.ts'
import { minutes } from '../units.ts'
import { Column } from './columns.ts'
import { type ExpectedRecords, type LogTransaction, standing } from './history.ts'
import type { Identity } from './identity.ts'
import type { Progress } from './progress.ts'
import { type LogRange, readLogBatches } from './read-batches.ts'
import { TransactionTracker } from './track-transactions.ts'

export interface SourceAsk extends LogRange {
  /** Index of the partition among all sources. */
  readonly source: number
  readonly committed: bigint
  readonly committedAfter: bigint
}

export interface SourceRead {
  readonly records: number
  readonly transactions: readonly LogTransaction[]
}

/** Makes of a piece of the source what it must have given. */
export interface Expecting {
  take(ask: SourceAsk, records: readonly KafkaRecord[]): Promise<void>
  readonly expected: ExpectedRecords
}

/** Reads what the relay reads, as read_committed, and expects of it what it must give. */
export async function readSource(
  cluster: Cluster,
  ask: SourceAsk,
  expecting: Expecting,
  progress: Progress,
): Promise<SourceRead> {
  const tracker = new TransactionTracker()
  let records = 0
  for await (const seen of readLogBatches(cluster, ask)) {
    tracker.pass(seen)
    progress.read(seen.batch.recordCount)
    if (!seen.visible) continue
    const asked = seen.batch.records().filter(({ offset }) => offset >= ask.from && offset < ask.until)
    records += asked.filter(({ offset }) => offset < ask.committed).length
    await expecting.take(ask, asked)
  }
  return { records, transactions: tracker.transactions }
}

export class ExpectedColumns implements ExpectedRecords {
  private readonly highs = new Column(Int32Array)
  private readonly lows = new Column(Int32Array)
  private readonly sources = new Column(Int32Array)
  private readonly offsets = new Column(Float64Array)
  private readonly outputs = new Column(Int32Array)
  private readonly standings = new Column(Uint8Array)

  push(ask: SourceAsk, offset: bigint, output: number, { high, low }: { high: number; low: number }): void {
    this.highs.push(high)
    this.lows.push(low)
    this.sources.push(ask.source)
    this.offsets.push(Number(offset))
    this.outputs.push(output)
    this.standings.push(standingOf(ask, offset))
  }

  get high(): Int32Array {
    return this.highs.values
  }
  get low(): Int32Array {
    return this.lows.values
  }
  get source(): Int32Array {
    return this.sources.values
  }
  get offset(): Float64Array {
    return this.offsets.values
  }
  get output(): Int32Array {
    return this.outputs.values
  }
  get standing(): Uint8Array {
    return this.standings.values
  }
}

function standingOf({ committed, committedAfter }: SourceAsk, offset: bigint): number {
  if (offset < committed) return standing.required
  return offset < committedAfter ? standing.allowed : standing.ahead
}

export interface TransformExpectation {
  readonly running: RunningRelay
  readonly clock: Clock
  readonly identity: Identity
  /** `tpKey` -> index of the partition. */
  readonly outputs: ReadonlyMap<string, number>
  readonly partitionCounts: ReadonlyMap<string, number>
  /** Of outputs that are judged; null for all. */
  readonly sinceMs: number | null
  /** Records whose dead letter is in the log, by `rejectionKey`: they are not transformed again, one may be poison. */
  readonly rejected: ReadonlyMap<string, RelayError>
}

/**
 * Expects what the relay's own transform gives. Proves a transform that depends on nothing but its record; one that asks
 * the clock, chance or a service is better verified by ids.
 */
export function expectTransformed(by: TransformExpectation): Expecting {
  const expected = new ExpectedColumns()
  const sinkFor = (ask: SourceAsk): OutputSink => ({
    partitionCount: (topic) => by.partitionCounts.get(topic) ?? 0,
    append(outputs, source) {
      for (const output of outputs) if (isJudged(by, output)) expectOutput(by, expected, ask, output, source)
    },
  })
  return {
    expected,
    async take(ask, records) {
      const { clock, rejected } = by
      const options = {
        deadline: deadlineIn(clock, transformTimeMs),
        attempt: 1,
        rejected,
        yieldNow: () => clock.sleep(0),
      }
      await by.running.transform(records, sinkFor(ask), options)
    },
  }
}

const transformTimeMs = minutes(10)

const isJudged = ({ sinceMs }: TransformExpectation, { record }: Output): boolean =>
  sinceMs === null || record.timestampMs >= sinceMs

function expectOutput(
  { identity, outputs }: TransformExpectation,
  expected: ExpectedColumns,
  ask: SourceAsk,
  output: Output,
  source: KafkaRecord | undefined,
): void {
  const { key, value, headers = [] } = output.record
  const index = outputs.get(tpKey(output)) ?? -1
  const fingerprint = identity.of(output.topic, index, { key, value, headers })
  if (fingerprint && source) expected.push(ask, source.offset, index, fingerprint)
}

/** Expects the id of each source record once, in any output. */
export function expectIds(identity: Identity, sinceMs: number | null): Expecting {
  const expected = new ExpectedColumns()
  return {
    expected,
    async take(ask, records) {
      for (const record of records) {
        const fingerprint = identity.of(record.topic, -1, record)
        const judged = sinceMs === null || record.timestampMs >= sinceMs
        if (fingerprint && judged) expected.push(ask, record.offset, -1, fingerprint)
      }
    },
  }
}

/** What makes the transform give the dead letter that is in the log. */
export function knownRejections(
  origins: readonly { readonly topic: string; readonly partition: number; readonly offset: bigint }[],
): ReadonlyMap<string, RelayError> {
  return new Map(
    origins.map(({ topic, partition, offset }) => [
      rejectionKey(topic, partition, offset),
      new RelayError('POISON_RECORD', 'its dead letter is in the log'),
    ]),
  )
}
