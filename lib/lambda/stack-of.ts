/**
 * Stack of an error and of its causes, and nothing else of them: clients of other services hang whole requests on their
 * errors, with the login in a header, and loggers write all that hangs there.
 */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? String(error)
  return error.cause === undefined ? own : `${own}\ncaused by ${stackOf(error.cause)}`
}
