import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchRecords, meaning } from '../../../lib/verify/match.ts'
import { complaints, history, transaction } from '../../helpers/histories.ts'

/** Few words, so that equal ones are common. */
const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 12 })
const made = (gives: readonly string[], shows: readonly string[]) => ({ sources: [{ gives }], outputs: [{ shows }] })

const countsOf = (list: readonly string[]) =>
  new Map([...Map.groupBy(list, (word) => word)].map(([word, all]) => [word, all.length]))

test('what is lost, doubled and unexplained is the difference of the two multisets', () => {
  fc.assert(
    fc.property(words, words, (gives, shows) => {
      const { isDelivered, meanings } = matchRecords(history(made(gives, shows)))
      const [given, shown] = [countsOf(gives), countsOf(shows)]
      const sum = (of: (word: string) => number) =>
        ['a', 'b', 'c', 'd', 'e'].reduce((all, word) => all + Math.max(0, of(word)), 0)
      const [g, s] = [(word: string) => given.get(word) ?? 0, (word: string) => shown.get(word) ?? 0]
      const found = [...(meanings[0] ?? [])]
      expect([...isDelivered].filter((one) => one === 0)).toHaveLength(sum((word) => g(word) - s(word)))
      expect(found.filter((one) => one === meaning.unexplained)).toHaveLength(
        sum((word) => (g(word) === 0 ? s(word) : 0)),
      )
      expect(found.filter((one) => one === meaning.duplicate)).toHaveLength(
        sum((word) => (g(word) === 0 ? 0 : s(word) - g(word))),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('a log that shows what the source gives, in its order, is never complained about', () => {
  fc.assert(
    fc.property(words, (gives) => {
      expect(complaints(made(gives, gives))).toEqual([])
    }),
  )
})

test('any log that shows something else is complained about', () => {
  fc.assert(
    fc.property(words, words, (gives, shows) => {
      fc.pre(gives.join() !== shows.join())
      expect(complaints(made(gives, shows))).not.toEqual([])
    }),
    { numRuns: 1_000 },
  )
})

test('any interleaving of two source partitions is in order', () => {
  const two = fc.tuple(
    fc.array(fc.nat(), { maxLength: 8 }),
    fc.array(fc.nat(), { maxLength: 8 }),
    fc.array(fc.boolean()),
  )
  fc.assert(
    fc.property(two, ([one, other, turns]) => {
      const gives = [one.map((_, n) => `one ${n}`), other.map((_, n) => `other ${n}`)] as const
      const [left, right] = [[...gives[0]], [...gives[1]]]
      const shows: (readonly [string, number])[] = []
      for (const turn of [...turns, ...one.map(() => true), ...other.map(() => false)]) {
        const word = (turn ? left : right).shift()
        if (word !== undefined) shows.push([word, turn ? 0 : 1])
      }
      const transactions = [
        transaction({ visible: one.length }),
        transaction({ producerId: 101n, visible: other.length }),
      ]
      const complained = complaints({
        sources: gives.map((list) => ({ gives: list })),
        outputs: [{ shows, transactions }],
      })
      expect(complained).toEqual([])
    }),
  )
})
