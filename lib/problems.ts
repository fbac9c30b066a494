import { type ErrorCode, RelayError } from './errors.ts'

/** One thing that is wrong with a setting: where, what was found, what is wanted, how to mend it. */
export interface Problem {
  /** Where the reader finds it: `outputs.late`, `FENCEPOST_BROKERS`. */
  readonly path: string
  /** As found; secrets never. */
  readonly found: string
  readonly wanted: string
  readonly fix: string
}

/** Reports all problems at once, so that nobody mends them one deployment at a time. @throws RelayError CONFIG_INVALID, or `code` */
export function refuseIfAny(what: string, problems: readonly Problem[], code: ErrorCode = 'CONFIG_INVALID'): void {
  if (problems.length === 0) return
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  throw new RelayError(code, `${what} has ${count}\n${problems.map(problemLine).join('\n')}`, {
    context: { problems },
  })
}

const problemLine = ({ path, found, wanted, fix }: Problem): string =>
  `  ${path} is ${found}, wanted ${wanted}. Fix: ${fix}`

export const wrongIf = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : [])

/** A value as a message shows it, bounded. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = typeof value === 'string' ? `'${value}'` : typeof value === 'function' ? 'a function' : printed(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function printed(value: unknown): string {
  if (value instanceof Date) return String(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return String(value)
}

/** Made when it is needed: the first grouped number of a process loads the locales, a tenth of a cold start. */
export const wholeNumberFrom = (least: number, most: number): string =>
  `a whole number from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`

/** Checks that say nothing of a setting that is left out: its default is fine. */
export const check = {
  wholeNumber(path: string, value: unknown, least: number, most: number): Problem[] {
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most))
      return []
    const wanted = wholeNumberFrom(least, most)
    return [{ path, found: shown(value), wanted, fix: 'set it within these bounds, or leave it out for the default' }]
  },
  oneOf(path: string, value: unknown, allowed: readonly string[]): Problem[] {
    if (value === undefined || allowed.some((one) => one === value)) return []
    const wanted = allowed.map((one) => `'${one}'`).join(' or ')
    return [{ path, found: shown(value), wanted, fix: 'choose one of them, or leave it out for the default' }]
  },
}
