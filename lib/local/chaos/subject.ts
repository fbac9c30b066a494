import type { Fault } from './fault.ts'
import type { Surroundings } from './surroundings.ts'

/** What is put under load and faults: our relay, or a control that this harness must catch. */
export interface Subject {
  readonly name: string
  /** What the verifier can ask of it. */
  readonly relayedBy: 'fencepost' | 'another'
  /** Resolves when it relays. It reaches brokers and table through the proxies only. */
  start(around: Surroundings): Promise<RunningSubject>
}

export interface RunningSubject {
  /** What can be done to itself, beside what can be done to its surroundings. */
  readonly faults: readonly Fault[]
  stats(): SubjectStats
  /** Running work ends by itself; afterwards nothing of it is left. May be called again. */
  stop(): Promise<void>
}

export interface SubjectStats {
  readonly invocations: number
  /** Batches that were delivered again because an invocation failed. */
  readonly redelivered: number
}
