import { type Clock, deadlineIn, systemClock } from '../../lib/clock.ts'
import type { RelayError } from '../../lib/errors.ts'
import type { Relay } from '../../lib/index.ts'
import type { KafkaRecord } from '../../lib/kafka/record.ts'
import { readBatches } from '../../lib/kafka/record-batch/decode.ts'
import type { RunningRelay, TransformCounts } from '../../lib/relay/compiled-relay.ts'
import { WindowSink } from '../../lib/relay/window-sink.ts'

const stamp = { producerId: 1n, producerEpoch: 0, baseSequence: 0, transactional: true }

export interface WindowOptions {
  readonly clock?: Clock
  /** For this window. Default 60 s. */
  readonly timeMs?: number
  readonly attempt?: number
  readonly rejected?: ReadonlyMap<string, RelayError>
  readonly yieldNow?: () => Promise<void>
  /** Of each output topic. Default 1, so that the order of all outputs can be seen. */
  readonly partitions?: number
  /** `max.message.bytes` of each output topic. */
  readonly maxMessageBytes?: number
  readonly secrets?: Readonly<Record<string, string>>
}

export interface WindowOutcome {
  readonly counts: TransformCounts
  /** What a reader of the topic would find, decoded from the batches that would be sent. */
  records(topic: string): KafkaRecord[]
  /** Values as text, null for tombstones. */
  texts(topic: string): (string | null)[]
}

/** One container of a relay, started, with a real sink for each window. */
export async function startRelay(relay: Relay, options: WindowOptions = {}) {
  const { clock = systemClock, secrets = {} } = options
  const secret = async (name: string) => secrets[name] ?? ''
  const running = await relay.start({ secret, deadline: deadlineIn(clock, 60_000), clock })
  return (records: readonly KafkaRecord[], more: WindowOptions = {}) =>
    runWindow(relay, running, records, { ...options, ...more })
}

/** Starts a relay and puts one window through it. */
export const transformWindow = async (relay: Relay, records: readonly KafkaRecord[], options: WindowOptions = {}) =>
  (await startRelay(relay, options))(records)

async function runWindow(
  relay: Relay,
  running: RunningRelay,
  records: readonly KafkaRecord[],
  options: WindowOptions,
): Promise<WindowOutcome> {
  const { clock = systemClock, timeMs = 60_000, partitions = 1, maxMessageBytes = 1_048_588 } = options
  const sink = new WindowSink(
    new Map(relay.outputTopics.map((topic) => [topic, partitions])),
    new Map(relay.outputTopics.map((topic) => [topic, maxMessageBytes])),
  )
  const counts = await running.transform(records, sink, {
    deadline: deadlineIn(clock, timeMs),
    attempt: options.attempt ?? 1,
    rejected: options.rejected ?? new Map(),
    yieldNow: options.yieldNow ?? (() => clock.sleep(0)),
  })
  const recordsOf = (topic: string) => written(sink, topic)
  return {
    counts,
    records: recordsOf,
    texts: (topic) => recordsOf(topic).map(({ value }) => value?.toString() ?? null),
  }
}

function written(sink: WindowSink, topic: string): KafkaRecord[] {
  return sink.batches
    .filter((batches) => batches.topic === topic)
    .flatMap(({ partition, batches }) =>
      batches.flatMap((batch) =>
        [...readBatches(batch.build(stamp), { topic, partition })].flatMap((read) => read.records()),
      ),
    )
}

/** A record of the source; what is not said is plain. */
export function record(value: string | null, more: Partial<KafkaRecord> = {}): KafkaRecord {
  return {
    topic: 'source',
    partition: 0,
    offset: 0n,
    timestampMs: 1_700_000_000_000,
    timestampType: 'CreateTime',
    key: Buffer.from('key'),
    value: value === null ? null : Buffer.from(value),
    headers: [],
    ...more,
  }
}

/** Records with these values at offsets 0, 1, 2 ... */
export const records = (...values: readonly (string | null)[]): KafkaRecord[] =>
  values.map((value, index) => record(value, { offset: BigInt(index) }))

/** What a promise was rejected with. */
export async function failure(work: Promise<unknown>): Promise<RelayError> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: RelayError) => error,
  )
}
