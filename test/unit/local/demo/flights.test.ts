import { expect, test } from 'vitest'
import { flightsMax, readFlights } from '../../../../lib/local/demo/flights.ts'

test('flights come as they are in the file, in order of departure', async () => {
  const flights = await readFlights(1_000)
  expect(flights.count).toBe(1_000)
  expect(flights.at(0)).toEqual({
    date: '2001-01-01T00:01',
    delay: 33,
    distance: 2176,
    origin: 'LAS',
    destination: 'PHL',
  })
  const dates = Array.from({ length: 1_000 }, (_, index) => flights.at(index).date)
  expect(dates).toEqual(dates.toSorted())
})

test('flights go on where one row group of the file ends and the next begins', async () => {
  const firstOfSecondGroup = 272_727
  const flights = await readFlights(firstOfSecondGroup + 2)
  const minute = '2001-01-17T15:35'
  expect([flights.at(firstOfSecondGroup - 1), flights.at(firstOfSecondGroup)]).toEqual([
    { date: minute, delay: -10, distance: 419, origin: 'HOU', destination: 'OKC' },
    { date: minute, delay: 14, distance: 325, origin: 'OAK', destination: 'BUR' },
  ])
})

test.each([0, flightsMax + 1])('%d flights are refused', async (count) => {
  await expect(readFlights(count)).rejects.toThrow(`${count} flights were asked for`)
})
