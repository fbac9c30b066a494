import * as v from 'valibot'
import { defineRelay, json, seconds, topic } from '../../lib/index.ts'
import { scoringClient } from './scoring-client.ts'

const Order = v.object({ id: v.string(), total: v.number() })

export interface ScoredOrder {
  readonly id: string
  readonly total: number
  readonly score: number
}

/** Asks a service for the score of each order, at most 16 at once; the outputs keep the order of the source. */
export default defineRelay({
  name: 'score-orders',
  source: topic('orders', json(Order)),
  outputs: { scored: topic('orders.scored', json<ScoredOrder>()) },
  deadLetters: topic('orders.dead'),
  setup: async ({ secret }) => {
    const url = process.env.SCORING_URL
    if (!url) throw new Error('SCORING_URL is not set: give the address of the scoring service')
    return { api: scoringClient(url, await secret('SCORING_KEY')) }
  },
  async: { concurrency: 16, timeoutMs: seconds(2) },
  async transform(record, { emit, api, signal }) {
    const score = await api.score(record.value, { signal, idempotencyKey: record.id })
    emit.scored({ ...record.value, score })
  },
})
