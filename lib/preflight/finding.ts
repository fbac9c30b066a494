/** What one check found of one thing. */
export interface Finding {
  /** Stable name of the check, for scripts: `topic.min-isr`. */
  readonly id: string
  /** The thing: a topic, `broker`, `table`, a relay, a mapping. */
  readonly about: string
  /** What was looked at: a setting, a right. */
  readonly what: string
  /** `unknown`: the service does not tell, or does not let this user ask. */
  readonly status: Status
  readonly found: string
  readonly wanted: string
  /** null where nothing is to be mended. */
  readonly fix: string | null
}

export type Status = 'ok' | 'warn' | 'fail' | 'unknown'

/** A fact, or why it is not known. */
export type Told<T> = { readonly told: true; readonly value: T } | { readonly told: false; readonly why: string }

export const told = <T>(value: T): Told<T> => ({ told: true, value })
export const untold = (why: string): Told<never> => ({ told: false, why })

/** The parts of a finding that its check gives once. */
export type Subject = Pick<Finding, 'id' | 'about' | 'what' | 'wanted'>

export const ok = (subject: Subject, found: string): Finding => ({ ...subject, status: 'ok', found, fix: null })
export const warn = (subject: Subject, found: string, fix: string): Finding => ({
  ...subject,
  status: 'warn',
  found,
  fix,
})
export const fail = (subject: Subject, found: string, fix: string): Finding => ({
  ...subject,
  status: 'fail',
  found,
  fix,
})
export const unknown = (subject: Subject, why: string, fix: string | null = null): Finding => ({
  ...subject,
  status: 'unknown',
  found: why,
  fix,
})

/** `ok` where it holds, else what `otherwise` makes of it. */
export const holds = (
  condition: boolean,
  otherwise: typeof fail | typeof warn,
  subject: Subject,
  found: string,
  fix: string,
): Finding => (condition ? ok(subject, found) : otherwise(subject, found, fix))
