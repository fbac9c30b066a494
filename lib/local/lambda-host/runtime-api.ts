import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FunctionError } from './invoke-result.ts'

export interface Invocation {
  readonly requestId: string
  readonly arn: string
  readonly deadlineAtMs: number
  /** JSON. */
  readonly payload: string | Buffer
}

/** What the process inside the container says. Called in the order of its requests, before they are acknowledged. */
export interface RuntimeListener {
  /** It asks for work: its initialisation or its last invocation is over. */
  ready(): void
  answered(requestId: string, body: Buffer): void
  failed(requestId: string, error: FunctionError): void
  initFailed(error: FunctionError): void
}

const version = '/2018-06-01/runtime'

/**
 * The Lambda Runtime API of one container, as custom runtimes and AWS's own runtime clients speak it.
 * Source: AWS Lambda developer guide, "Using the Lambda runtime API for custom runtimes".
 */
export class RuntimeApi {
  readonly #server: Server
  readonly #listener: RuntimeListener
  #waiting: ServerResponse | null = null

  private constructor(listener: RuntimeListener) {
    this.#listener = listener
    this.#server = createServer((request, response) => {
      this.#route(request, response).catch(() => response.destroy())
    })
    // A frozen client holds its connection silently for as long as it is frozen.
    this.#server.keepAliveTimeout = 0
    this.#server.requestTimeout = 0
  }

  static async listen(listener: RuntimeListener): Promise<RuntimeApi> {
    const api = new RuntimeApi(listener)
    await new Promise<void>((resolve, reject) => {
      api.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    api.#server.unref()
    return api
  }

  /** `host:port`, the value of AWS_LAMBDA_RUNTIME_API. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Answers the request for work that `ready` announced. */
  give(invocation: Invocation): void {
    this.#waiting
      ?.writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': invocation.requestId,
        'lambda-runtime-deadline-ms': String(invocation.deadlineAtMs),
        'lambda-runtime-invoked-function-arn': invocation.arn,
      })
      .end(invocation.payload)
    this.#waiting = null
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    if (request.method === 'GET' && path === `${version}/invocation/next`) {
      this.#waiting = response
      this.#listener.ready()
      return
    }
    const body = await bodyOf(request)
    this.#hear(path, body)
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}')
  }

  #hear(path: string, body: Buffer): void {
    const match = path.match(/\/invocation\/([^/]+)\/(response|error)$/)
    const requestId = match?.[1] ?? ''
    if (path === `${version}/init/error`) this.#listener.initFailed(functionError(body))
    else if (match?.[2] === 'response') this.#listener.answered(requestId, body)
    else if (match?.[2] === 'error') this.#listener.failed(requestId, functionError(body))
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Custom runtimes call the stack `stackTrace`, Node's calls it `trace`. */
export function functionError(body: Buffer): FunctionError {
  const said: unknown = parseOrNull(body)
  const fields = typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : {}
  const trace = fields.trace ?? fields.stackTrace
  return {
    errorType: typeof fields.errorType === 'string' ? fields.errorType : 'Runtime.Unknown',
    errorMessage: typeof fields.errorMessage === 'string' ? fields.errorMessage : body.toString('utf8').slice(0, 1000),
    trace: Array.isArray(trace) ? trace.map(String) : [],
  }
}

function parseOrNull(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
