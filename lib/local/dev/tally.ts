import { figure } from '../../verify/finding.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'

/** What a function has done since the last line about it. */
export interface Tally {
  readonly done: number
  readonly windows: number
  readonly failed: number
  readonly refused: number
  /** The last failure as a person reads it, and the container whose log has all of it. */
  readonly failure: { readonly message: string; readonly containerId: string | null } | null
  /** Lanes that answered as stopped, by transactional id. */
  readonly stopped: ReadonlySet<string>
}

export const nothingYet: Tally = { done: 0, windows: 0, failed: 0, refused: 0, failure: null, stopped: new Set() }

/** With one more invocation in it. */
export function withResult(tally: Tally, result: InvokeResult): Tally {
  if (result.status === 'success') {
    const { windows, stopped } = summaryIn(result.payload)
    return {
      ...tally,
      done: tally.done + 1,
      windows: tally.windows + windows,
      stopped: new Set([...tally.stopped, ...stopped]),
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
export const isWorthALine = ({ done, windows, failed, refused }: Tally, quietWhenIdle: boolean): boolean =>
  failed + refused + windows > 0 || (done > 0 && !quietWhenIdle)

/** One line, without the failure's own. */
export function tallyLine({ done, windows, failed, refused }: Tally): string {
  const count = (number: number, what: string) => `${figure(number)} ${what}${number === 1 ? '' : 's'}`
  const parts = [
    ...(done > 0 ? [`${count(done, 'invocation')} ok, ${count(windows, 'window')}`] : []),
    ...(failed > 0 ? [`${count(failed, 'invocation')} failed`] : []),
    ...(refused > 0 ? [`${figure(refused)} refused`] : []),
  ]
  return parts.join(', ')
}

/** The answer of the functions in `functions/`; of any other function, nothing is known. */
function summaryIn(payload: unknown): { readonly windows: number; readonly stopped: readonly string[] } {
  const { windows, stopped } = (payload ?? {}) as { readonly windows?: unknown; readonly stopped?: unknown }
  const lanes = Array.isArray(stopped) ? stopped.map((line) => String(line).split(': ')[0] ?? '') : []
  return { windows: typeof windows === 'number' ? windows : 0, stopped: lanes }
}
