import type { DecodedBy } from '../../codecs/codec.ts'
import type { CompiledRelay } from '../compiled-relay.ts'
import type { Emit, Outputs, WindowEmit } from './emit.ts'
import type { RelayRecord } from './relay-record.ts'
import type { Topic } from './topic.ts'

/** What a user writes: `defineRelay({ ... })`. Every setting but the first three and the transform has a default. */
export type RelayDefinition<Source extends Topic, O extends Outputs, Setup extends object> = RelaySettings<
  Source,
  O,
  Setup
> &
  (RecordTransform<Source, O, Setup> | WindowTransform<Source, O, Setup>)

export interface RelaySettings<Source extends Topic, O extends Outputs, Setup extends object> {
  /** Part of transactional ids and of the commit group: a relay that is renamed starts anew. 1-56 letters, digits, '_', '-'. */
  readonly name: string
  readonly source: Source
  /** Every topic that the transform may write, by the name that `emit` has for it. */
  readonly outputs: O
  /** Where rejected records go, in the same transaction as everything else: original bytes, the reason in headers. */
  readonly deadLetters?: Topic
  /**
   * What becomes of a record that can never pass (it cannot be decoded, its transform throws, its output is too large).
   * `stop` leaves the lane at the record until an operator resumes it; `skip` only counts it.
   * Default: `dead-letter` where `deadLetters` is given, else `stop`.
   */
  readonly onError?: OnError
  /**
   * Runs once per container, before the first record; what it returns is handed to every transform beside `emit`.
   * Write it above the transform: TypeScript infers in reading order.
   */
  setup?(context: SetupContext): Setup | Promise<Setup>
  /** Where the very first start begins. Default 'earliest'. Remembered for ever: changing it later changes nothing. */
  readonly startAt?: 'earliest' | 'event' | Date
  /** Limits of one window (one transaction). */
  readonly window?: WindowSettings
  /** Least time between two commits of a lane that lingers. Default 1,000. */
  readonly commitEveryMs?: number
  /** Default 'exactly-once'. The weaker ones are for outputs whose readers remove duplicates themselves. */
  readonly guarantee?: CompiledRelay['guarantee']
  /**
   * Default 'log'. 'event' takes records from the event itself where they follow on without a hole, which saves a fetch:
   * only with a weaker guarantee, because an event does not show which of its records were aborted.
   */
  readonly read?: CompiledRelay['read']
  /** Default 1: every partition is its own unit of order and concurrency. */
  readonly partitionsPerLane?: number
  /** Deaths of the process, alone with one record, after which the record is taken for poison. Default 3. */
  readonly poisonAttempts?: number
}

export interface RecordTransform<Source extends Topic, O extends Outputs, Setup extends object> {
  /**
   * Called for each record, in order per partition. It may run again for the same record after a crash: its emits count
   * once, whatever else it does counts as often as it runs.
   */
  transform(
    record: RelayRecord<DecodedBy<Source['value']>, DecodedBy<Source['key']> | null>,
    context: TransformContext<O> & Setup,
  ): void | Promise<void>
  /** Several calls at once, outputs still in source order. Without it an async transform is awaited record by record. */
  readonly async?: AsyncSettings
  readonly transformWindow?: never
}

export interface WindowTransform<Source extends Topic, O extends Outputs, Setup extends object> {
  /**
   * Called once for each window, for look-ups in batches. When it throws, the window is tried in halves until the record
   * at fault stands alone; that one is rejected. Tell an outage apart with `throw retryWindow(...)`.
   */
  transformWindow(
    records: readonly RelayRecord<DecodedBy<Source['value']>, DecodedBy<Source['key']> | null>[],
    context: WindowTransformContext<O> & Setup,
  ): void | Promise<void>
  readonly async?: Omit<AsyncSettings, 'concurrency'>
  readonly transform?: never
}

export type OnError = 'dead-letter' | 'stop' | 'skip'

/** The record type of a source topic, for functions that a transform calls. */
export type RecordOf<Source extends Topic> = RelayRecord<DecodedBy<Source['value']>, DecodedBy<Source['key']> | null>

export interface TransformContext<O extends Outputs> {
  readonly emit: Emit<O>
  /** Aborted when the call takes too long, and before the time that the commit needs. Pass it to what you await. */
  readonly signal: AbortSignal
}

export interface WindowTransformContext<O extends Outputs> {
  readonly emit: WindowEmit<O>
  /** Aborted when the call takes too long, and before the time that the commit needs. Pass it to what you await. */
  readonly signal: AbortSignal
}

export interface SetupContext {
  /** A secret by its name, read once per container. */
  secret(name: string): Promise<string>
}

export interface WindowSettings {
  /** Default 7,000; with `async`, as many as surely fit `ms`. */
  readonly records?: number
  /** Bytes fetched. Default 8 MiB. */
  readonly bytes?: number
  /** How long reading and transforming may take before the window is given up and tried again. Default 10,000. */
  readonly ms?: number
}

export interface AsyncSettings {
  /** Calls at once, per lane. */
  readonly concurrency: number
  /** After which `signal` is aborted and the call given up. Default 5,000. A time-out never rejects a record: the window is tried again. */
  readonly timeoutMs?: number
  /** Further calls after one that threw or timed out, 100 ms later and then twice as long each. Default 0. */
  readonly retries?: number
}

/** A checked relay: what the engine runs, and what tests read outputs by. */
export interface Relay<Source extends Topic = Topic, O extends Outputs = Outputs> extends CompiledRelay {
  readonly source: Source
  readonly outputs: O
}
