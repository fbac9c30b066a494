import { expect, test } from 'vitest'
import delays, { delayClass } from '../../relays/delays.ts'
import { record, transformWindow } from '../helpers/relay-window.ts'

const flight = { date: '2001/01/10 18:20', delay: 14, distance: 192, origin: 'SFO', destination: 'LAX' }
const of = (value: object) => record(JSON.stringify(value), { topic: 'flights', key: Buffer.from('SFO') })

test('delays passes a flight on time byte for byte, with its key and time', async () => {
  const source = record(' {"date":"d","delay":-3.5,"distance":1,"origin":"A","destination":"B","more":[]} ')
  const outcome = await transformWindow(delays, [source, of(flight)])
  expect(outcome.texts('flights.on-time')).toEqual([source.value?.toString(), JSON.stringify(flight)])
  expect(outcome.records('flights.on-time')[0]).toMatchObject({ key: source.key, timestampMs: source.timestampMs })
  expect(outcome.texts('flights.late')).toEqual([])
})

test('delays enriches a flight that is 15 minutes late or more', async () => {
  const outcome = await transformWindow(delays, [of({ ...flight, delay: 15 })])
  expect(outcome.texts('flights.late').map((text) => JSON.parse(text ?? ''))).toEqual([
    { ...flight, delay: 15, km: 309, delayClass: 'minor' },
  ])
  expect(outcome.texts('flights.on-time')).toEqual([])
})

test('delays classes a delay by its minutes', () => {
  expect([15, 44, 45, 119, 120, 999].map(delayClass)).toEqual(['minor', 'minor', 'major', 'major', 'severe', 'severe'])
})

test('delays dead-letters what is not a flight', async () => {
  const malformed = [record('{"date":'), of({ ...flight, delay: 'late' }), record(null)]
  const outcome = await transformWindow(delays, malformed)
  expect(outcome.records('flights.dead').map(({ value }) => value)).toEqual(malformed.map(({ value }) => value))
  expect(outcome.counts).toEqual({ records: 3, outputs: 0, deadLetters: 3, skipped: 0 })
})
