import type { FaultEvent } from './fault-schedule.ts'

/** How things stood at one moment. */
export interface Sample {
  readonly atMs: number
  /** Records of the load that the brokers have acknowledged. */
  readonly written: number
  /** Source offsets that the relay has committed. */
  readonly relayed: number
  /** Transactions that were committed so far, as a reader of the outputs counts them. */
  readonly windows: number
}

/** A stretch of the run. */
export interface Stretch {
  /** Seconds since the beginning, at its end. */
  readonly second: number
  readonly written: number
  readonly relayed: number
  /** Records that were written and not relayed at the end of it. */
  readonly lag: number
  /** Committed within it. */
  readonly windows: number
  /** Faults that were at work in it. */
  readonly faults: readonly string[]
}

/** Cuts a run into at most `rows` stretches of equal length, whole seconds each. */
export function stretches(samples: readonly Sample[], faults: readonly FaultEvent[], rows: number): readonly Stretch[] {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined) return []
  const seconds = Math.max(1, Math.ceil((last.atMs - first.atMs) / 1_000))
  const step = Math.ceil(seconds / rows)
  const found: Stretch[] = []
  let before = first
  for (let second = step; second < seconds + step; second += step) {
    const [fromMs, untilMs] = [first.atMs + (second - step) * 1_000, first.atMs + second * 1_000]
    const at = samples.findLast(({ atMs }) => atMs <= untilMs) ?? before
    const active = faults.filter(({ beganMs, endedMs }) => beganMs < untilMs && endedMs >= fromMs)
    found.push({
      second,
      written: at.written,
      relayed: at.relayed,
      lag: Math.max(0, at.written - at.relayed),
      windows: at.windows - before.windows,
      faults: [...new Set(active.map(({ name }) => name))],
    })
    before = at
  }
  return found
}
