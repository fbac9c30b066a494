import { minutes, seconds } from '../lib/units.ts'
import type { RelaySettings, TriggerKind } from './settings.ts'

/** What wakes the function of a relay. */
export type Trigger =
  /** A schedule; each invocation relays what is there. */
  | { readonly kind: 'pull'; readonly everyMinutes: number }
  /** A schedule; each invocation goes on tailing until its time is up, and the next one follows at once. */
  | { readonly kind: 'linger'; readonly everyMinutes: number }
  /** An event source mapping whose pollers Lambda chooses. */
  | { readonly kind: 'events'; readonly batchingWindowSeconds: number }
  /** An event source mapping with pollers of its own, paid by the hour; the only one that has retry settings. */
  | { readonly kind: 'provisioned'; readonly batchingWindowSeconds: number; readonly pollers: Pollers }

export interface Pollers {
  readonly min: number
  readonly max: number
  /** Mappings that share a group share the price of one unit. */
  readonly group?: string | undefined
}

/** Ten pollers fit into one unit of the price (AWS Lambda guide, "Kafka event poller scaling modes"). */
const pollersByDefault: Pollers = { min: 1, max: 10 }
/** The longest that a batch may wait, and the least that a schedule can do. */
const batchingWindowSecondsMax = 300

/**
 * The cheapest trigger that keeps the latency a relay asks for: from 60 s a schedule, from 5 s an on-demand event source
 * mapping with that batching window, from 1 s a schedule whose invocations linger, below it a provisioned mapping.
 */
export function triggerOf({
  latency,
  trigger,
  pollers,
}: Pick<RelaySettings, 'latency' | 'trigger' | 'pollers'>): Trigger {
  const kind = trigger ?? triggerFor(latency)
  const batchingWindowSeconds = Math.min(Math.floor(latency / seconds(1)), batchingWindowSecondsMax)
  switch (kind) {
    case 'pull':
      return { kind, everyMinutes: Math.max(1, Math.floor(latency / minutes(1))) }
    case 'linger':
      return { kind, everyMinutes: 1 }
    case 'events':
      return { kind, batchingWindowSeconds }
    case 'provisioned':
      return { kind, batchingWindowSeconds, pollers: pollers ?? pollersByDefault }
  }
}

function triggerFor(latencyMs: number): TriggerKind {
  if (latencyMs >= seconds(60)) return 'pull'
  if (latencyMs >= seconds(5)) return 'events'
  return latencyMs >= seconds(1) ? 'linger' : 'provisioned'
}
