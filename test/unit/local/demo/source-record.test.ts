import { expect, test } from 'vitest'
import type { Flight } from '../../../../lib/local/demo/flights.ts'
import { sourceRecord } from '../../../../lib/local/demo/source-record.ts'
import delays from '../../../../relays/delays.ts'
import { record, transformWindow } from '../../../helpers/relay-window.ts'

const flight: Flight = { date: '2001-01-31T17:05', delay: 14, distance: 192, origin: 'SFO', destination: 'LAX' }
const topics = { late: 'flights.late', onTime: 'flights.on-time', dead: 'flights.dead' }
/** Where each kind of malformed record comes for the first time. */
const malformedAt = [1_234, 11_234, 21_234, 31_234]

const asRecord = ({ key, value }: { readonly key: Buffer; readonly value: Buffer }) =>
  record(value.toString('latin1'), { key, value })

test.each<readonly [string, Flight, number]>([
  ['on time', flight, 0],
  ['just late', { ...flight, delay: 15 }, 0],
  ['early', { ...flight, delay: -30 }, 7],
  ...malformedAt.map((index) => [`malformed number ${index}`, flight, index] as const),
])('the fate counted for a flight that is %s is the one that the relay gives it', async (_, it, index) => {
  const made = sourceRecord(it, index)
  const outcome = await transformWindow(delays, [asRecord(made)])
  const found = Object.values(topics).filter((topic) => outcome.records(topic).length > 0)
  expect(found).toEqual([topics[made.fate]])
})

test('one record in 10,000 is malformed, in four different ways, always the same ones', () => {
  const dead = Array.from({ length: 40_000 }, (_, index) => index).filter(
    (index) => sourceRecord(flight, index).fate === 'dead',
  )
  expect(dead).toEqual(malformedAt)
  expect(new Set(dead.map((index) => sourceRecord(flight, index).value.toString('latin1'))).size).toBe(4)
})

test('flights of one airport share a key, malformed or not', () => {
  for (const index of [0, ...malformedAt]) expect(sourceRecord(flight, index).key.toString()).toBe('SFO')
})
