import type { Clock, Deadline } from '../clock.ts'
import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import type { RelayError } from '../errors.ts'
import type { KafkaRecord, Output } from '../kafka/record.ts'

/** What `defineRelay` makes of a user's definition: all that the engine needs to know of a relay, defaults filled in. */
export interface CompiledRelay {
  readonly name: string
  readonly sourceTopic: string
  /** Every topic that the relay may write, dead letters included. */
  readonly outputTopics: readonly string[]
  readonly deadLetters: string | null
  readonly guarantee: 'exactly-once' | 'at-least-once' | 'none'
  /** Where the very first start begins; resolved once to numbers and remembered for ever (R8). */
  readonly startAt: 'earliest' | 'event' | { readonly timestampMs: number }
  readonly read: 'log' | 'event'
  readonly partitionsPerLane: number
  readonly window: WindowLimits
  /** At least this long between the windows of a lingering lane (R13). */
  readonly commitEveryMs: number
  /** Deaths alone, in its transform, after which a record is taken for poison. */
  readonly poisonAttempts: number
  /** Runs the user's `setup` once per container and returns what transforms windows. */
  start(context: StartContext): Promise<RunningRelay>
}

export interface WindowLimits {
  readonly recordsMax: number
  readonly bytesMax: number
  /** How long collecting and transforming one window may take. */
  readonly msMax: number
}

export interface StartContext {
  secret(name: string): Promise<string>
  /** For codecs that name none of their own. */
  readonly registry?: SchemaRegistry | null
  readonly deadline: Deadline
  /** For time-outs and pauses between attempts of an async transform, in every window from now on. */
  readonly clock: Clock
}

/** Where the outputs of a window go. One sink per window: what it holds is dropped when the window is. */
export interface OutputSink {
  /** Pinned in the fence record, so that containers with different metadata cannot alternate a key between partitions. */
  partitionCount(topic: string): number
  /**
   * Adds all that one source record gives, or nothing. A relay made by `defineRelay` names the record.
   * @throws RelayError RECORD_TOO_LARGE, RECORD_INVALID, PARTITION_INVALID; then nothing was added.
   */
  append(outputs: readonly Output[], source?: KafkaRecord): void
}

export interface TransformOptions {
  /** By this moment the transform must be done or given up (the commit reserve comes after it). */
  readonly deadline: Deadline
  /** 1 for the first try of this window, one more for every counted death: told in the headers of dead letters. */
  readonly attempt: number
  /** Records known to be unable to pass (poison, refused by the broker), by offset per partition key `topic-partition@offset`. */
  readonly rejected: ReadonlyMap<string, RelayError>
  /** Called every few milliseconds of synchronous work, so that renewals get their turn (R14). */
  yieldNow(): Promise<void>
}

export interface TransformCounts {
  readonly records: number
  readonly outputs: number
  readonly deadLetters: number
  readonly skipped: number
}

export interface RunningRelay {
  /**
   * Transforms one window in source order into the sink. A record that fails is dead-lettered into the same sink, or
   * skipped, as the relay says; its own earlier emits are not added.
   * @throws RelayError RECORD_REJECTED_STOP (context: topic, partition, offset of the record, and the code that rejected it),
   *   TRANSFORM_TIMED_OUT, TRANSFORM_RETRY, EMIT_TOO_LATE, CONFIG_INVALID, REGISTRY_UNAVAILABLE, SCHEMA_UNKNOWN,
   *   SCHEMA_REFUSED
   */
  transform(records: readonly KafkaRecord[], sink: OutputSink, options: TransformOptions): Promise<TransformCounts>
}

export const rejectionKey = (topic: string, partition: number, offset: bigint): string =>
  `${topic}-${partition}@${offset}`
