import { systemClock } from '../clock.ts'
import { observers, type RelayObserver } from '../relay/observer.ts'
import { type DrainedLane, type DrainReport, drainRelay } from '../relay/operator/drain-relay.ts'
import type { RelayRuntime } from '../relay/runtime.ts'
import { seconds } from '../units.ts'
import { figure, plural } from '../verify/finding.ts'
import type { Terminal } from './terminal.ts'

/** What was committed by this process. */
export interface DrainCounts {
  records: number
  outputs: number
  deadLetters: number
  windows: number
}

export interface Drained extends DrainReport {
  readonly counts: Readonly<DrainCounts>
}

const tellEveryMs = seconds(5)

/** Drains a relay, tells of it while it takes long, and ends between two windows when interrupted. */
export async function drainTelling(runtime: RelayRuntime, terminal: Terminal): Promise<Drained> {
  const counts = { records: 0, outputs: 0, deadLetters: 0, windows: 0 }
  const observer = observers(runtime.observer, counting(counts, terminal))
  const report = await drainRelay(
    { ...runtime, observer, stopping: terminal.interrupted },
    runtime.settings.functionTimeoutMs,
  )
  return { ...report, counts }
}

function counting(counts: DrainCounts, terminal: Terminal): RelayObserver {
  let toldAtMs = systemClock.now()
  return {
    windowCommitted({ counts: window }) {
      counts.windows++
      counts.records += window.records
      counts.outputs += window.outputs
      counts.deadLetters += window.deadLetters
      if (systemClock.now() - toldAtMs < tellEveryMs) return
      toldAtMs = systemClock.now()
      terminal.err(`fencepost: ${plural(counts.records, 'record')} relayed so far`)
    },
  }
}

const signs = { drained: '✓', stopped: '✗', failed: '✗', waiting: '?' } as const

/** Lanes that are not at the end of the log, and why. */
export const unfinishedLines = (lanes: readonly DrainedLane[]): readonly string[] =>
  lanes
    .filter(({ state }) => state !== 'drained')
    .map(({ lane, state, message }) => `${signs[state]} ${lane} is not drained (${state}): ${message ?? ''}`)

export const countsText = ({ records, outputs, windows }: DrainCounts): string =>
  `${plural(records, 'record')} gave ${plural(outputs, 'output')} in ${figure(windows)} ${windows === 1 ? 'transaction' : 'transactions'}`
