import { figure } from '../../verify/finding.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'

/** What an answer of the functions in `functions/` counts. */
const counted = ['windows', 'records', 'outputs', 'deadLetters', 'skipped'] as const
type Counts = Readonly<Record<(typeof counted)[number], number>>

/** What a function has done since the last line about it. */
export interface Tally {
  readonly done: number
  readonly counts: Counts
  readonly failed: number
  readonly refused: number
  /** The last failure as a person reads it, and the container whose log has all of it. */
  readonly failure: { readonly message: string; readonly containerId: string | null } | null
  /** Lanes that answered as stopped, by transactional id. */
  readonly stopped: ReadonlySet<string>
}

export const nothingYet: Tally = {
  done: 0,
  counts: { windows: 0, records: 0, outputs: 0, deadLetters: 0, skipped: 0 },
  failed: 0,
  refused: 0,
  failure: null,
  stopped: new Set(),
}

/** With one more invocation in it. */
export function withResult(tally: Tally, result: InvokeResult): Tally {
  if (result.status === 'success') {
    const answer = (result.payload ?? {}) as Readonly<Record<string, unknown>>
    return {
      ...tally,
      done: tally.done + 1,
      counts: withCounts(tally.counts, answer),
      stopped: new Set([...tally.stopped, ...stoppedLanes(answer)]),
    }
  }
  if (result.status === 'refused') {
    const failure = { message: result.payload.errorMessage, containerId: null }
    return { ...tally, refused: tally.refused + 1, failure }
  }
  const { errorType, errorMessage } = result.payload
  const message = errorType === 'RelayError' ? errorMessage : `${errorType}: ${errorMessage}`
  return { ...tally, failed: tally.failed + 1, failure: { message, containerId: result.containerId } }
}

/** Whether a person wants a line about it; a schedule that finds nothing to do is no news. */
export const isWorthALine = ({ done, counts, failed, refused }: Tally, quietWhenIdle: boolean): boolean =>
  failed + refused + counts.windows > 0 || (done > 0 && !quietWhenIdle)

/** One line, without the failure's own. */
export function tallyLine({ done, counts, failed, refused }: Tally): string {
  const parts = [
    ...(done > 0 ? [`${count(done, 'invocation')} ok, ${countsText(counts)}`] : []),
    ...(failed > 0 ? [`${count(failed, 'invocation')} failed`] : []),
    ...(refused > 0 ? [`${count(refused, 'invocation')} refused`] : []),
  ]
  return parts.join('; ')
}

/** `3 records in 2 windows: 2 outputs, 1 dead letter`. */
function countsText({ windows, records, outputs, deadLetters, skipped }: Counts): string {
  if (windows === 0) return 'nothing to do'
  const became = [
    count(outputs, 'output'),
    ...(deadLetters > 0 ? [count(deadLetters, 'dead letter')] : []),
    ...(skipped > 0 ? [`${figure(skipped)} skipped`] : []),
  ]
  return `${count(records, 'record')} in ${count(windows, 'window')}: ${became.join(', ')}`
}

const count = (number: number, what: string): string => `${figure(number)} ${what}${number === 1 ? '' : 's'}`

function withCounts(counts: Counts, answer: Readonly<Record<string, unknown>>): Counts {
  const sums = counted.map((name) => [name, counts[name] + (Number(answer[name]) || 0)] as const)
  return Object.fromEntries(sums) as Counts
}

/** Named as `<transactional id>: <code>`. */
const stoppedLanes = ({ stopped }: Readonly<Record<string, unknown>>): readonly string[] =>
  Array.isArray(stopped) ? stopped.map((line) => String(line).split(': ')[0] ?? '') : []
