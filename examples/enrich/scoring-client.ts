import { retryWindow } from '../../lib/index.ts'

export interface ScoringClient {
  /** @throws when the service refuses the order; asks for the window to be tried again when the service is down */
  score(order: object, call: { readonly signal: AbortSignal; readonly idempotencyKey: string }): Promise<number>
}

export function scoringClient(url: string, key: string): ScoringClient {
  return {
    async score(order, { signal, idempotencyKey }) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey },
        body: JSON.stringify(order),
        signal,
      })
      if (response.status >= 500) throw retryWindow(`the scoring service answers ${response.status}`)
      const answer = (await response.json()) as { score: number; error?: string }
      if (!response.ok) throw new Error(`the scoring service refuses the order: ${answer.error}`)
      return answer.score
    },
  }
}
