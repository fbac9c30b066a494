import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WorkerState } from '../relay/worker/worker.ts'
import { minutes } from '../units.ts'

/** A worker that has not been able to look for so long is of no use where it is. */
const lookedWithinMs = minutes(1)

export interface Health {
  readonly port: number
  close(): void
}

/**
 * `GET /healthz`: what the worker does, as JSON; 200 while it works, 503 while it ends, or when it could not ask Kafka and
 * the fence table for a minute.
 */
export async function serveHealth(port: number, state: () => WorkerState, nowMs: () => number): Promise<Health> {
  const server = createServer((request, response) => {
    if (request.url !== '/healthz') return response.writeHead(404).end()
    const { stopping, lookedAtMs, ...rest } = state()
    const ok = !stopping && lookedAtMs !== null && nowMs() - lookedAtMs < lookedWithinMs
    response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok, stopping, lookedAtMs, ...rest }))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve))
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
