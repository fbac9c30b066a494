import { isRelayError, messageOf } from '../../errors.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'

export interface DeliveredRange {
  readonly partition: number
  readonly firstOffset: number
  readonly lastOffset: number
  readonly records: number
}

/** Why this invocation: new records, the same batch again after a failure, or a fault made on purpose. */
export type DeliveryReason = 'new' | 'again' | 'duplicate' | 'duplicate-beside' | 'overlap'

/** What a poller tells whoever watches. `poller` numbers the members of the group from 0. */
export type PollerEvent =
  | {
      readonly kind: 'assigned'
      readonly poller: number
      readonly generation: number
      readonly partitions: readonly number[]
    }
  | {
      readonly kind: 'invoking'
      readonly poller: number
      readonly reason: DeliveryReason
      readonly ranges: readonly DeliveredRange[]
    }
  | {
      readonly kind: 'answered'
      readonly poller: number
      readonly reason: DeliveryReason
      readonly ranges: readonly DeliveredRange[]
      readonly result: InvokeResult
    }
  /** The batch, or its part from the failed offsets on, comes again after `backOffMs`. */
  | { readonly kind: 'will-redeliver'; readonly poller: number; readonly cause: string; readonly backOffMs: number }
  | { readonly kind: 'committed'; readonly poller: number; readonly offsets: ReadonlyMap<number, bigint> }
  /** A record that no event can carry: dropped without running the function. */
  | {
      readonly kind: 'oversized'
      readonly poller: number
      readonly partition: number
      readonly offset: bigint
      readonly bytes: number
    }
  | { readonly kind: 'trouble'; readonly poller: number; readonly message: string }

export const troubleEvent = (poller: number, error: unknown): PollerEvent => ({
  kind: 'trouble',
  poller,
  message: isRelayError(error) ? error.message : `unexpected: ${messageOf(error)}`,
})

export interface PollerStats {
  readonly invocations: number
  readonly succeeded: number
  readonly failed: number
  readonly throttled: number
  /** Records in batches that succeeded, counted once per success. */
  readonly recordsDelivered: number
  /** Batches, or parts of batches, that were delivered again because they failed. */
  readonly redelivered: number
  readonly oversized: number
  readonly rebalances: number
  /** Faults made on purpose, as they happened. */
  readonly duplicates: number
  readonly overlaps: number
  readonly reorders: number
}

export type MutableStats = { -readonly [K in keyof PollerStats]: PollerStats[K] }

export const emptyStats = (): MutableStats => ({
  invocations: 0,
  succeeded: 0,
  failed: 0,
  throttled: 0,
  recordsDelivered: 0,
  redelivered: 0,
  oversized: 0,
  rebalances: 0,
  duplicates: 0,
  overlaps: 0,
  reorders: 0,
})
