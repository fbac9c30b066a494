/**
 * What the compiler must accept and refuse in a relay. Nothing here runs: `npm run types` fails when a mistake below
 * stops being an error, or when a relay that should compile does not.
 */
import * as v from 'valibot'
import { bytes, defineRelay, json, nullable, retryWindow, string, topic } from '../../lib/index.ts'

const Order = v.object({ customer: v.string(), total: v.number(), at: v.optional(v.string()) })
interface Scored {
  readonly customer: string
  readonly score: number
}
interface ScoringClient {
  score(order: { customer: string }, options: { signal: AbortSignal; idempotencyKey: string }): Promise<Scored>
}
declare const client: (key: string) => ScoringClient

const source = topic('orders', json(Order))
const outputs = {
  scored: topic('orders.scored', json<Scored>()),
  raw: topic('orders.raw', bytes()),
  checked: topic('orders.checked', json(Order), { key: string() }),
  latest: topic('orders.latest', nullable(json<Scored>())),
}

export const synchronous = defineRelay({
  name: 'synchronous',
  source,
  outputs,
  transform(record, { emit }) {
    const total: number = record.value.total
    const id: string = record.id
    const key: Buffer | null = record.key
    if (total > 10) return emit.raw(record.raw.value, { key })
    emit.scored({ customer: id, score: total }, { key: 'text', timestamp: 0, partition: 3, headers: { by: 'relay' } })
    emit.raw(null, { key: null, headers: [...record.headers, { key: 'seen', value: null }] })
    emit.latest(null)
    emit.checked({ customer: 'ann', total }, { key: 'ann' })

    // @ts-expect-error no such output
    emit.scord({ customer: 'ann', score: 1 })
    // @ts-expect-error a field is missing
    emit.scored({ customer: 'ann' })
    // @ts-expect-error a field has another type
    emit.scored({ customer: 'ann', score: '1' })
    // @ts-expect-error a tombstone needs a nullable output
    emit.scored(null)
    // @ts-expect-error the value was not awaited
    emit.scored(client('key').score(record.value, { signal: AbortSignal.abort(), idempotencyKey: record.id }))
    // @ts-expect-error this topic's keys are text
    emit.checked({ customer: 'ann', total }, { key: Buffer.from('ann') })
    // @ts-expect-error no such option
    emit.raw(null, { keys: 'a' })
    // @ts-expect-error no such field in the source
    record.value.totl
  },
})

export const asynchronous = defineRelay({
  name: 'asynchronous',
  source,
  outputs,
  setup: async ({ secret }) => ({ api: client(await secret('SCORING_KEY')) }),
  async: { concurrency: 16, timeoutMs: 2_000, retries: 3 },
  async transform(record, { emit, api, signal }) {
    emit.scored(await api.score(record.value, { signal, idempotencyKey: record.id }))
    // @ts-expect-error the value was not awaited
    emit.scored(api.score(record.value, { signal, idempotencyKey: record.id }))
    if (record.value.total < 0) throw retryWindow('not now')
  },
})

export const together = defineRelay({
  name: 'together',
  source,
  outputs,
  setup: () => ({ scores: new Map<string, number>() }),
  async transformWindow(records, { emit, scores, signal }) {
    signal.throwIfAborted()
    for (const record of records) {
      const score = scores.get(record.value.customer) ?? 0
      emit.scored({ customer: record.value.customer, score }, { from: record })
    }
    // @ts-expect-error an output of a window must say which record it comes from
    emit.scored({ customer: 'ann', score: 1 })
  },
})

export const withTombstonesAndKeys = defineRelay({
  name: 'tombstones',
  source: topic('accounts', nullable(json(Order)), { key: string() }),
  outputs: { copy: topic('accounts.copy', bytes()) },
  transform(record, { emit }) {
    const key: string | null = record.key
    emit.copy(record.raw.value, { key })
    // @ts-expect-error the value may be a tombstone
    record.value.total
    if (record.value) emit.copy(Buffer.from(record.value.customer))
  },
})

defineRelay({
  name: 'returns-a-value',
  source,
  outputs,
  // @ts-expect-error a returned value goes nowhere: emit it
  transform: (record) => record.value,
})

// @ts-expect-error neither transform nor transformWindow
defineRelay({ name: 'does-nothing', source, outputs })

// @ts-expect-error both transform and transformWindow
defineRelay({ name: 'does-both', source, outputs, transform() {}, transformWindow() {} })

defineRelay({
  name: 'misspelt',
  source,
  outputs,
  // @ts-expect-error no such setting
  windows: { records: 1 },
  transform() {},
})

defineRelay({
  name: 'wrong-policy',
  source,
  outputs,
  // @ts-expect-error no such policy
  onError: 'ignore',
  transform() {},
})
