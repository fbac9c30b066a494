import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import type { Outputs } from '../relay/definition/emit.ts'
import type { Topic } from '../relay/definition/topic.ts'
import type { DeadLetterView, OutputView } from './output-log.ts'
import type { TestRecord } from './source-writer.ts'
import type { CrashPoint } from './test-container.ts'

export interface TestRelayOptions {
  /** Of the source and of every output: one number for all, or by topic name. Default 1. */
  readonly partitions?: number | Readonly<Record<string, number>>
  /**
   * Topic settings by topic name, for example `{ 'flights.late': { 'max.message.bytes': '1000' } }`. Unless they say
   * otherwise topics keep their records for ever.
   */
  readonly topics?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The time at which the test begins. Default: the same day in every run. */
  readonly startAt?: Date
  /** For codecs with a schema registry that name none. Default: one in memory that takes every schema. */
  readonly registry?: SchemaRegistry
  /** What `setup` gets from `secret(name)`. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Which generation of brokers is modelled: 2 as Kafka 4.x, 1 as 3.x. Default 2. */
  readonly transactionVersion?: 1 | 2
  /** How long one invocation may take. Default 30,000. */
  readonly functionTimeoutMs?: number
  /** Decides ids and jitter. Default 1. */
  readonly seed?: number
}

export interface RelayUnderTest<Source extends Topic, O extends Outputs> {
  /** What readers of the outputs see: committed records only. */
  readonly outputs: { readonly [Name in keyof O]: OutputView<O[Name]> }
  readonly deadLetters: DeadLetterView
  /**
   * Writes to the source and delivers the event, again after a failure or a crash as an event source mapping does, until
   * it is answered with success.
   * @throws RelayError of a lane that stopped, or that fails time after time
   */
  pipe(records: TestRecord<Source> | readonly TestRecord<Source>[]): Promise<void>
  /** Writes to the source without ringing: an event that was lost. The next bell finds the records in the log. */
  write(records: TestRecord<Source> | readonly TestRecord<Source>[]): Promise<void>
  /** Rings without an event, as a schedule does, until nothing is left to a container that died. @throws as `pipe` */
  ring(): Promise<void>
  /**
   * The container dies: now, with all that it keeps in memory, or at a point of the next run. That run is then made good
   * by another container, to which the same event is delivered.
   */
  crash(at?: CrashPoint): Promise<void>
  /** Lets time pass: leases expire, transactions time out, offsets and ids are forgotten as brokers do. */
  advanceTime(ms: number): Promise<void>
  /** Milliseconds since the epoch, as the relay and its brokers see it. */
  now(): number
}
