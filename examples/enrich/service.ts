/** A scoring service to try the relay with: `node examples/enrich/service.ts` serves it until Ctrl-C. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface ScoringService {
  readonly url: string
  /** Scores by the idempotency key of the call, in the order of the answers; a repeated key is answered as the first time. */
  readonly scored: ReadonlyMap<string, number>
  /** Answers so many calls with 503 first. */
  failNext(calls: number): void
  stop(): void
}

export async function startScoringService(key: string, port = 0): Promise<ScoringService> {
  const scored = new Map<string, number>()
  let failing = 0
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${key}`) return answer(401, { error: 'wrong key' })
    if (failing > 0) return answer(503, { error: `${failing--} more calls fail` })
    const order = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { total: number }
    if (order.total < 0) return answer(422, { error: 'a total below 0 has no score' })
    await wait((order.total * 7) % 20) // some orders take longer than others
    const id = String(request.headers['idempotency-key'])
    const score = scored.get(id) ?? Math.min(100, Math.round(order.total / 10))
    scored.set(id, score)
    return answer(200, { score })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/score`,
    scored,
    failNext: (calls) => {
      failing = calls
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

if (import.meta.main) console.log((await startScoringService('demo-key', 8080)).url)
