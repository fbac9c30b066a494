/**
 * What runs inside a container: loads the handler, asks the Runtime API for work, calls the handler, answers. It is to
 * the function what AWS's own runtime client is, and like it imports nothing of the function's.
 */
import { existsSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

type Handler = (event: unknown, context: object) => unknown

interface Work {
  readonly requestId: string
  readonly arn: string
  readonly deadlineAtMs: number
  readonly event: unknown
}

/** Named errors of the runtime itself; everything else is named by the function. */
class RuntimeError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let current: Work | null = null

function call(
  method: 'GET' | 'POST',
  path: string,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const url = `http://${setting('AWS_LAMBDA_RUNTIME_API')}/2018-06-01/runtime${path}`
  const headers =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
      response.on('error', reject)
    })
    outgoing.on('error', reject).end(body)
  })
}

async function next(): Promise<Work> {
  const { headers, body } = await call('GET', '/invocation/next')
  return {
    requestId: String(headers['lambda-runtime-aws-request-id']),
    arn: String(headers['lambda-runtime-invoked-function-arn']),
    deadlineAtMs: Number(headers['lambda-runtime-deadline-ms']),
    event: JSON.parse(body.toString('utf8')),
  }
}

async function run(handler: Handler, work: Work): Promise<void> {
  current = work
  try {
    const result = await handler(work.event, contextOf(work))
    await call('POST', `/invocation/${work.requestId}/response`, answer(result))
  } catch (error) {
    await report(`/invocation/${work.requestId}/error`, error)
  }
  current = null
}

function answer(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null'
  } catch (error) {
    throw new RuntimeError('Runtime.MarshalError', `Unable to stringify response body: ${error}`)
  }
}

function contextOf(work: Work): object {
  return {
    awsRequestId: work.requestId,
    invokedFunctionArn: work.arn,
    functionName: setting('AWS_LAMBDA_FUNCTION_NAME'),
    functionVersion: setting('AWS_LAMBDA_FUNCTION_VERSION'),
    memoryLimitInMB: setting('AWS_LAMBDA_FUNCTION_MEMORY_SIZE'),
    logGroupName: setting('AWS_LAMBDA_LOG_GROUP_NAME'),
    logStreamName: setting('AWS_LAMBDA_LOG_STREAM_NAME'),
    getRemainingTimeInMillis: () => Math.max(0, work.deadlineAtMs - Date.now()),
  }
}

/** `relay.handler` is export `handler` of relay.mjs, .js or .cjs; further dots reach into the export. */
async function loadHandler(): Promise<Handler> {
  const name = setting('_HANDLER')
  const [module = '', ...path] = name.split('.')
  const base = join(setting('LAMBDA_TASK_ROOT'), module)
  const file = ['.mjs', '.js', '.cjs'].map((extension) => base + extension).find(existsSync)
  if (!file)
    throw new RuntimeError(
      'Runtime.ImportModuleError',
      `Error: Cannot find module '${module}' in ${setting('LAMBDA_TASK_ROOT')}`,
    )
  const exports: unknown = await import(pathToFileURL(file).href)
  const handler = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], exports)
  if (typeof handler !== 'function')
    throw new RuntimeError('Runtime.HandlerNotFound', `${name} is undefined or not exported`)
  return handler as Handler
}

async function report(path: string, thrown: unknown): Promise<void> {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const errorType = thrown instanceof Error ? error.name : typeof thrown
  const trace = (error.stack ?? '').split('\n')
  console.error('Invoke Error', JSON.stringify({ errorType, errorMessage: error.message, stack: trace }))
  await call('POST', path, JSON.stringify({ errorType, errorMessage: error.message, trace }))
}

/** After an error that nobody caught the state of the process is unknown: report it and end, as Lambda's runtime does. */
function endAfter(name: string, exitCode: number): (error: unknown) => void {
  return (error) => {
    const named = name === '' || !(error instanceof Error) ? error : Object.assign(error, { name })
    const path = current === null ? '/init/error' : `/invocation/${current.requestId}/error`
    report(path, named).finally(() => process.exit(exitCode))
  }
}

/** Node's exit code for an await that nothing can ever settle, here the one for the handler. */
function explainUnsettled(exitCode: number): void {
  if (exitCode === 13) console.error('Runtime.NodeJsExit: the handler waits for a promise that nothing can settle')
}

/** Lambda's text format: time, request id, level, message, one line each. */
function shapeConsole(): void {
  const levels = { trace: 'TRACE', debug: 'DEBUG', log: 'INFO', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const text = format(...values).replaceAll('\n', '\r')
      process.stdout.write(`${new Date().toISOString()}\t${current?.requestId ?? 'undefined'}\t${level}\t${text}\n`)
    }
  }
}

function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new RuntimeError('Runtime.InvalidEnvironment', `${name} is not set`)
  return value
}

async function main(): Promise<void> {
  shapeConsole()
  process.on('uncaughtException', endAfter('', 129))
  process.on('unhandledRejection', endAfter('Runtime.UnhandledPromiseRejection', 128))
  process.on('exit', explainUnsettled)
  const handler = await loadHandler().catch(async (error) => {
    await report('/init/error', error)
    process.exit(1)
  })
  // Ends when the host is gone: the request for work fails, nobody is left to report to.
  for (;;) {
    await run(handler, await next().catch(() => process.exit(1)))
  }
}

await main()
