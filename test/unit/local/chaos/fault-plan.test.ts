import { expect, test } from 'vitest'
import { FaultPlan } from '../../../../lib/local/chaos/fault-plan.ts'
import { seededRandom } from '../../../../lib/testing/seeded-random.ts'

const kinds = ['a', 'b', 'c', 'd'].map((name) => ({ name, strikes: name }))
const turns = (seed: number, count: number): string[] => {
  const plan = new FaultPlan(kinds, seededRandom(seed))
  return Array.from({ length: count }, () => plan.next([])?.name ?? '-')
}

test('each kind comes once before any comes again', () => {
  const order = turns(1, 12)
  for (const round of [order.slice(0, 4), order.slice(4, 8), order.slice(8)]) {
    expect(round.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  }
})

test('a seed gives its order again, another seed another one', () => {
  expect(turns(7, 20)).toEqual(turns(7, 20))
  expect(turns(7, 20)).not.toEqual(turns(8, 20))
})

test('what strikes a target that is being struck waits, and comes as soon as that is over', () => {
  const brokers = ['kill', 'pause'].map((name) => ({ name, strikes: 'broker' }))
  const plan = new FaultPlan(brokers, seededRandom(1))
  const first = plan.next([])
  expect(plan.next(first ? [first] : [])).toBeNull()
  expect(new Set([first?.name, plan.next([])?.name])).toEqual(new Set(['kill', 'pause']))
})
