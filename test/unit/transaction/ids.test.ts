import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commitGroup, transactionalId } from '../../../lib/transaction/ids.ts'

const characters = (alphabet: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength })

// Few letters on purpose: collisions are likely when dots divide badly.
const names = characters('a0_-', 4)
const topics = characters('a0._-', 6).filter((topic) => topic !== '.' && topic !== '..')
const lanes = fc.record({ prefix: names, relay: names, topic: topics, lane: fc.nat(11) })
type Lane = { prefix: string; relay: string; topic: string; lane: number }
const idOf = (lane: Lane) => transactionalId(lane.prefix, lane.relay, lane.topic, lane.lane)

describe('transactional ids', () => {
  test('name prefix, relay, topic and lane', () => {
    expect(transactionalId('shop-prod', 'delays', 'flights', 3)).toBe('shop-prod.delays.flights.3')
    expect(commitGroup('shop-prod', 'delays')).toBe('shop-prod.delays')
  })

  test('two different lanes never have one id', () => {
    fc.assert(
      fc.property(lanes, lanes, (one, other) => {
        expect(idOf(one) === idOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
      { numRuns: 5_000 },
    )
  })

  test('the parts can be read back from the id, dots in the topic included', () => {
    fc.assert(
      fc.property(lanes, (lane) => {
        const [, prefix, relay, topic, number] = /^([^.]+)\.([^.]+)\.(.+)\.(\d+)$/.exec(idOf(lane)) ?? []
        expect({ prefix, relay, topic, lane: Number(number) }).toEqual(lane)
      }),
    )
  })

  test('two different relays never share a commit group', () => {
    fc.assert(
      fc.property(names, names, names, names, (prefix, relay, otherPrefix, otherRelay) => {
        const same = prefix === otherPrefix && relay === otherRelay
        expect(commitGroup(prefix, relay) === commitGroup(otherPrefix, otherRelay)).toBe(same)
      }),
    )
  })
})

describe('names that would make ids ambiguous or that Kafka refuses', () => {
  test.each(['', 'a.b', 'a b', 'ü', 'a'.repeat(65)])('prefix or relay %j is refused', (name) => {
    expect(() => transactionalId(name, 'relay', 'topic', 0)).toThrow('CONFIG_INVALID')
    expect(() => transactionalId('prefix', name, 'topic', 0)).toThrow('CONFIG_INVALID')
    expect(() => commitGroup('prefix', name)).toThrow('CONFIG_INVALID')
  })

  test.each(['', '.', '..', 'a b', 'a/b', 'a'.repeat(250)])('topic %j is refused', (topic) => {
    expect(() => transactionalId('prefix', 'relay', topic, 0)).toThrow('CONFIG_INVALID')
  })

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('lane %d is refused', (lane) => {
    expect(() => transactionalId('prefix', 'relay', 'topic', lane)).toThrow('CONFIG_INVALID')
  })
})
