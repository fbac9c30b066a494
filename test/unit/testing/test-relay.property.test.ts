import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes, defineRelay, json, topic } from '../../../lib/index.ts'
import { type RelayUnderTest, testRelay } from '../../../lib/testing/index.ts'

const numbers = defineRelay({
  name: 'numbers',
  source: topic('numbers', json<number>()),
  outputs: { even: topic('numbers.even', json<number>()), odd: topic('numbers.odd', json<number>()) },
  deadLetters: topic('numbers.dead', bytes()),
  transform(record, { emit }) {
    if (record.value < 0) throw new Error('below zero')
    if (record.value % 2 === 0) emit.even(record.value)
    else emit.odd(record.value)
  },
})

type Bench = RelayUnderTest<typeof numbers.source, typeof numbers.outputs>

/** What a day brings. Values are given out by the test, so that each is unique. */
type Step =
  | { readonly do: 'pipe'; readonly keys: readonly number[]; readonly bad: boolean }
  | { readonly do: 'write'; readonly keys: readonly number[]; readonly bad: boolean }
  | {
      readonly do: 'pipe-over-crash'
      readonly keys: readonly number[]
      readonly at: 'transform' | 'before-commit' | 'after-commit'
    }
  | { readonly do: 'ring' }
  | { readonly do: 'crash' }
  | { readonly do: 'wait'; readonly ms: number }

const keys = fc.array(fc.nat(4), { minLength: 1, maxLength: 6 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('pipe' as const), keys, bad: fc.boolean() }),
  fc.record({ do: fc.constant('write' as const), keys, bad: fc.boolean() }),
  fc.record({
    do: fc.constant('pipe-over-crash' as const),
    keys,
    at: fc.constantFrom('transform' as const, 'before-commit' as const, 'after-commit' as const),
  }),
  fc.record({ do: fc.constant('ring' as const) }),
  fc.record({ do: fc.constant('crash' as const) }),
  fc.record({
    do: fc.constant('wait' as const),
    ms: fc.constantFrom(500, 6_000, 120_000, 6 * 3_600_000),
  }),
)

describe('testRelay', () => {
  it.each([1, 2] as const)(
    'delivers every record once and in order per key, whatever the day brings (transaction version %s)',
    async (transactionVersion) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const relay = testRelay(numbers, { transactionVersion, partitions: { numbers: 2, 'numbers.even': 2 } })
          const written = await live(relay, steps)
          await relay.ring()
          expectOnceInOrder(relay, written)
        }),
        { numRuns: 60 },
      )
    },
    60_000,
  )
})

interface Value {
  readonly key: string
  readonly value: number
}

async function live(relay: Bench, steps: readonly Step[]): Promise<readonly Value[]> {
  const written: Value[] = []
  const records = (of: readonly number[], bad: boolean) => {
    const made = of.map((key) => {
      const value = { key: `key-${key}`, value: bad && key === 0 ? -1 - written.length : written.length }
      written.push(value)
      return value
    })
    return made
  }
  for (const next of steps) {
    if (next.do === 'pipe') await relay.pipe(records(next.keys, next.bad))
    else if (next.do === 'write') await relay.write(records(next.keys, next.bad))
    else if (next.do === 'ring') await relay.ring()
    else if (next.do === 'crash') await relay.crash()
    else if (next.do === 'wait') await relay.advanceTime(next.ms)
    else if (next.do === 'pipe-over-crash') {
      await relay.crash(next.at)
      await relay.pipe(records(next.keys, false))
    }
  }
  return written
}

function expectOnceInOrder(relay: Bench, written: readonly Value[]): void {
  const good = written.filter(({ value }) => value >= 0)
  for (const key of new Set(good.map((one) => one.key))) {
    const expected = good.filter((one) => one.key === key).map(({ value }) => value)
    const seen = (records: readonly { key: Buffer | null; value: number | null }[]) =>
      records.filter((record) => String(record.key) === key).map(({ value }) => value)
    expect(seen(relay.outputs.even.records())).toEqual(expected.filter((value) => value % 2 === 0))
    expect(seen(relay.outputs.odd.records())).toEqual(expected.filter((value) => value % 2 === 1))
  }
  expect(relay.outputs.even.values().length + relay.outputs.odd.values().length).toBe(good.length)
  const dead = relay.deadLetters.values().map((value) => Number(String(value)))
  expect(dead.toSorted()).toEqual(
    written
      .filter(({ value }) => value < 0)
      .map(({ value }) => value)
      .toSorted(),
  )
}
