/** What Lambda puts into the payload when a function fails. `trace` is what Node's runtime sends. */
export interface FunctionError {
  readonly errorType: string
  readonly errorMessage: string
  readonly trace: readonly string[]
}

export interface InvokeReport {
  readonly requestId: string
  readonly containerId: string
  /** True when this invocation had to start its container. */
  readonly cold: boolean
  /** From the start of the process until it asked for work; null on warm invocations. */
  readonly initDurationMs: number | null
  readonly durationMs: number
  readonly billedDurationMs: number
  readonly maxMemoryUsedBytes: number
  /** The last 4 KB of what the function logged in this invocation, START, END and REPORT lines included. */
  readonly logTail: string
}

/**
 * What a synchronous invocation gives its caller. `refused` means that no code ran: 429 above the concurrency limit,
 * 413 for a payload above 6 MB, as the AWS SDK's TooManyRequestsException and RequestTooLargeException.
 */
export type InvokeResult =
  | ({ readonly status: 'success'; readonly statusCode: 200; readonly payload: unknown } & InvokeReport)
  | ({
      readonly status: 'error'
      readonly statusCode: 200
      readonly functionError: 'Unhandled'
      readonly payload: FunctionError
    } & InvokeReport)
  | {
      readonly status: 'refused'
      readonly statusCode: 413 | 429
      readonly requestId: string
      readonly payload: FunctionError
    }

/** How an invocation ended inside its container. */
export type InvocationEnd =
  | { readonly kind: 'answered'; readonly body: Buffer }
  | { readonly kind: 'failed'; readonly error: FunctionError }
  | { readonly kind: 'timed-out'; readonly timeoutMs: number }
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }

/** Lambda's limit for the payload of a synchronous invocation and of its answer. */
export const payloadBytesMax = 6 * 1024 * 1024

const signalNames: Readonly<Record<string, string>> = {
  SIGKILL: 'killed',
  SIGABRT: 'aborted',
  SIGSEGV: 'segmentation fault',
  SIGTERM: 'terminated',
}

/** null: the function answered. The texts are Lambda's, because people search for them. */
export function errorOf(end: InvocationEnd, requestId: string): FunctionError | null {
  const named = (errorType: string, what: string): FunctionError => ({
    errorType,
    errorMessage: `RequestId: ${requestId} Error: ${what}`,
    trace: [],
  })
  switch (end.kind) {
    case 'failed':
      return end.error
    case 'timed-out':
      return named('Sandbox.Timedout', `Task timed out after ${(end.timeoutMs / 1000).toFixed(2)} seconds`)
    case 'out-of-memory':
      return named('Runtime.OutOfMemory', 'Runtime exited with error: signal: killed')
    case 'exited':
      return named('Runtime.ExitError', exitText(end))
    case 'answered':
      return end.body.length <= payloadBytesMax
        ? null
        : named(
            'Function.ResponseSizeTooLarge',
            `Response payload size (${end.body.length} bytes) exceeded maximum allowed payload size (${payloadBytesMax} bytes).`,
          )
  }
}

function exitText(end: { readonly code: number | null; readonly signal: string | null }): string {
  if (end.signal !== null) return `Runtime exited with error: signal: ${signalNames[end.signal] ?? end.signal}`
  return end.code === 0
    ? 'Runtime exited without providing a reason'
    : `Runtime exited with error: exit status ${end.code}`
}

export function resultOf(end: InvocationEnd, report: InvokeReport): InvokeResult {
  const error = errorOf(end, report.requestId)
  if (error !== null) return { status: 'error', statusCode: 200, functionError: 'Unhandled', payload: error, ...report }
  const body = end.kind === 'answered' && end.body.length > 0 ? JSON.parse(end.body.toString('utf8')) : null
  return { status: 'success', statusCode: 200, payload: body, ...report }
}

/** The line that Lambda ends an invocation's log with. */
export function reportLine(
  figures: Pick<InvokeReport, 'requestId' | 'durationMs' | 'initDurationMs' | 'maxMemoryUsedBytes'>,
  memoryMb: number,
): string {
  const billedMs = figures.durationMs + (figures.initDurationMs ?? 0)
  const duration = `Duration: ${figures.durationMs} ms\tBilled Duration: ${billedMs} ms`
  const usedMb = Math.ceil(figures.maxMemoryUsedBytes / (1024 * 1024))
  const init = figures.initDurationMs === null ? '' : `\tInit Duration: ${figures.initDurationMs} ms`
  return `REPORT RequestId: ${figures.requestId}\t${duration}\tMemory Size: ${memoryMb} MB\tMax Memory Used: ${usedMb} MB${init}`
}

export function throttled(requestId: string, name: string, limit: number): InvokeResult {
  const errorMessage = `Rate Exceeded. ${name} runs ${limit} invocations, its concurrency limit.`
  const payload = { errorType: 'TooManyRequestsException', errorMessage, trace: [] }
  return { status: 'refused', statusCode: 429, requestId, payload }
}

export function tooLarge(requestId: string, bytes: number): InvokeResult {
  const errorMessage = `${bytes} byte payload is too large for the RequestResponse invocation type (limit ${payloadBytesMax} bytes)`
  const payload = { errorType: 'RequestTooLargeException', errorMessage, trace: [] }
  return { status: 'refused', statusCode: 413, requestId, payload }
}
