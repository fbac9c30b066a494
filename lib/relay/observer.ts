import type { RelayError } from '../errors.ts'
import type { TransformCounts } from './compiled-relay.ts'

export type WindowTimings = { readonly readMs: number; readonly transformMs: number; readonly commitMs: number }

/** What happens in the engine, for logs, metrics and progress. Observers must not throw and are never awaited. */
export interface RelayObserver {
  noopBell?(event: { lane: string }): void
  laneOpened?(event: { lane: string; token: number; positions: Record<string, string>; warm: boolean }): void
  windowCommitted?(event: {
    lane: string
    counts: TransformCounts
    until: Record<string, string>
    bytes: number
    timings: WindowTimings
  }): void
  sessionReopened?(event: { lane: string; error: RelayError }): void
  stoodDown?(event: { lane: string; reason: string }): void
  laneStopped?(event: { lane: string; error: RelayError }): void
  laneFailed?(event: { lane: string; error: RelayError }): void
  laneReleased?(event: { lane: string; clean: boolean }): void
  /** What a sweep finds before it does anything about it; null where it cannot know. */
  laneSwept?(event: { lane: string; lagOffsets: number | null; committedAgeMs: number | null }): void
  /** Something that an operator should know though work goes on: a rollback, a restored table, a poison record. */
  alarm?(event: { lane: string; code: string; message: string }): void
}

export const silentObserver: RelayObserver = {}

/** One observer that tells several. */
export function observers(...all: readonly RelayObserver[]): RelayObserver {
  const names = [
    'noopBell',
    'laneOpened',
    'windowCommitted',
    'sessionReopened',
    'stoodDown',
    'laneStopped',
    'laneFailed',
    'laneReleased',
    'laneSwept',
    'alarm',
  ] as const
  const tellAll = (name: (typeof names)[number]) => (event: never) => {
    for (const one of all) one[name]?.(event)
  }
  return Object.fromEntries(names.map((name) => [name, tellAll(name)]))
}
