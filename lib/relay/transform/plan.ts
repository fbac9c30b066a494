import type { Clock } from '../../clock.ts'
import type { RelayError } from '../../errors.ts'
import type { KafkaRecord } from '../../kafka/record.ts'
import { rejectionKey, type TransformOptions } from '../compiled-relay.ts'
import type { Topic } from '../definition/topic.ts'
import type { AttemptLimits } from './attempts.ts'
import { bindEmit, type NamedOutput, type TransformCall } from './call.ts'
import type { RejectionPolicy, TransformResults } from './results.ts'
import type { TransformTime } from './time.ts'

/** A relay's own code and how to call it, its types checked by `defineRelay` and forgotten here. */
export interface TransformPlan {
  readonly source: Topic
  readonly outputs: readonly NamedOutput[]
  readonly policy: RejectionPolicy
  readonly transform: TransformFunction
}

export type TransformFunction =
  | { readonly of: 'each record in turn'; readonly call: UserFunction }
  | { readonly of: 'several records at once'; readonly call: UserFunction; readonly limits: ConcurrencyLimits }
  | { readonly of: 'whole window'; readonly call: UserFunction; readonly limits: AttemptLimits }

/** `transform(record, context)` or `transformWindow(records, context)`. */
export type UserFunction = (input: unknown, context: object) => unknown

export interface ConcurrencyLimits extends AttemptLimits {
  readonly concurrency: number
}

/** One window on its way through the transform. */
export interface TransformWindow {
  readonly plan: TransformPlan
  /** What `setup` returned: part of every context. */
  readonly setup: object
  readonly records: readonly KafkaRecord[]
  readonly rejected: TransformOptions['rejected']
  readonly results: TransformResults
  readonly time: TransformTime
  readonly clock: Clock
  readonly onLateEmit: (error: RelayError) => void
}

/** Why the engine knows already that this record cannot pass. */
export function knownRejection({ rejected }: TransformWindow, record: KafkaRecord): RelayError | undefined {
  if (rejected.size === 0) return undefined
  return rejected.get(rejectionKey(record.topic, record.partition, record.offset))
}

/** What a transform gets beside its record. An `emit` per call is what keeps late emits out of other records. */
export function contextOf(
  { plan, setup }: TransformWindow,
  source: KafkaRecord,
  call: TransformCall,
  signal: AbortSignal,
): object {
  return { ...setup, emit: bindEmit(plan.outputs, call, source), signal }
}
