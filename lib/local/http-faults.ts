/** A forwarding HTTP proxy that harms chosen requests: what a client's retries and time-outs do is seen on a real socket. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { close, listen } from './http-server.ts'

export type HttpFault =
  | 'pass'
  /** The connection is cut; nothing is forwarded. */
  | 'refuse'
  /** The request is served; its answer is lost with the connection. */
  | 'lose-answer'
  /** Never answered, never forwarded. */
  | 'hang'
  /** Served so much later. */
  | { readonly delayMs: number }
  /** Answered in the server's place. */
  | { readonly status: number; readonly body: string }

export interface HttpFaults {
  readonly endpoint: string
  /** Judges every request from now on; `count` is 1 for the first of them. Until then all pass. */
  inject(fault: (request: { readonly target: string; readonly count: number }) => HttpFault): void
  /** Requests seen since the last `inject`. */
  readonly seen: number
  stop(): Promise<void>
}

/** @throws RelayError LOCAL_STACK when it cannot listen */
export async function startHttpFaults(target: string): Promise<HttpFaults> {
  let judge: (request: { target: string; count: number }) => HttpFault = () => 'pass'
  let seen = 0
  const server: Server = createServer(async (incoming, outgoing) => {
    seen += 1
    const fault = judge({ target: String(incoming.headers['x-amz-target'] ?? ''), count: seen })
    if (fault === 'refuse') return void outgoing.destroy()
    const body = await buffer(incoming).catch(() => null)
    if (body === null || fault === 'hang') return
    if (typeof fault === 'object' && 'status' in fault) return void outgoing.writeHead(fault.status).end(fault.body)
    if (typeof fault === 'object') await sleep(fault.delayMs)
    forward(target, incoming, body, outgoing, fault === 'lose-answer')
  })
  const port = await listen(server, 'the fault proxy')
  return {
    endpoint: `http://127.0.0.1:${port}`,
    inject(next) {
      judge = next
      seen = 0
    },
    get seen() {
      return seen
    },
    stop: () => close(server),
  }
}

function forward(target: string, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, lose: boolean) {
  const { method, headers, url } = incoming
  const onward = request(new URL(url ?? '/', target), { method, headers }, async (answer) => {
    const bytes = await buffer(answer)
    if (lose) return void outgoing.destroy()
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes)
  })
  onward.on('error', () => outgoing.destroy())
  onward.end(body)
}
