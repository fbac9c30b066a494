import { describe, expect, test } from 'vitest'
import { type Sighting, Tally } from '../../../../lib/local/chaos/tally.ts'

/** `"output/offset"` shows `"partition-number"`, or something that is no record of the load. */
function tallied(...sights: readonly (readonly [place: string, id: string])[]): Tally {
  const tally = new Tally()
  for (const [place, id] of sights) tally.note(sighting(place, id))
  return tally
}

function sighting(place: string, id: string): Sighting {
  const [output = '', offset = ''] = place.split('/')
  const [partition, number] = id.split('-').map(Number)
  const record = partition === undefined || number === undefined ? null : { partition, number }
  return { output, offset: Number(offset), record }
}

const wrote = (next: number, ...unsure: number[]) => ({ next, unsure: new Set(unsure) })
const clean = { lost: 0, duplicated: 0, outOfOrder: 0, unexplained: 0, examples: [] }

test('all records of all partitions, each once and in order, are clean', () => {
  const tally = tallied(['a/0', '0-0'], ['a/1', '1-0'], ['b/0', '0-1'], ['a/4', '0-2'])
  expect(tally.judge([wrote(3), wrote(1)])).toEqual({ ...clean, seen: 4 })
})

test('an acknowledged record that was never seen is lost, and named', () => {
  const found = tallied(['a/0', '0-0'], ['a/1', '0-2']).judge([wrote(3), wrote(1)])
  expect(found).toEqual({ ...clean, seen: 2, lost: 2, examples: ['lost: 0-1', 'lost: 1-0'] })
})

test('a record that was never acknowledged may be seen or not', () => {
  const written = [wrote(2, 1)]
  expect(tallied(['a/0', '0-0']).judge(written)).toEqual({ ...clean, seen: 1 })
  expect(tallied(['a/0', '0-0'], ['a/1', '0-1']).judge(written)).toEqual({ ...clean, seen: 2 })
})

test('a record at two places is doubled, whichever output they are in', () => {
  const found = tallied(['a/0', '0-0'], ['a/1', '0-0'], ['b/7', '0-0']).judge([wrote(1)])
  expect(found).toMatchObject({ seen: 3, lost: 0, duplicated: 2, outOfOrder: 0 })
  expect(found.examples).toEqual(['duplicated: 0-0 at a/1', 'duplicated: 0-0 at b/7'])
})

test('a place that the consumer is given again counts once', () => {
  expect(tallied(['a/0', '0-0'], ['a/1', '0-1'], ['a/0', '0-0'], ['a/1', '0-1']).judge([wrote(2)])).toEqual({
    ...clean,
    seen: 2,
  })
})

test('a place that shows another record than before is unexplained', () => {
  const found = tallied(['a/0', '0-0'], ['a/0', '0-1']).judge([wrote(2)])
  expect(found).toMatchObject({ seen: 1, lost: 1, unexplained: 1 })
  expect(found.examples).toContain('unexplained: a/0 showed 0-0, then 0-1')
})

test('an earlier record behind a later one of the same partition and output is out of order; between outputs there is none', () => {
  expect(tallied(['a/0', '0-1'], ['a/1', '0-0']).judge([wrote(2)])).toMatchObject({ outOfOrder: 1, duplicated: 0 })
  expect(tallied(['a/0', '0-1'], ['b/0', '0-0'], ['a/1', '1-0']).judge([wrote(2), wrote(1)])).toMatchObject(clean)
})

describe('what the load never wrote is unexplained:', () => {
  test('a number beyond the last', () => {
    expect(tallied(['a/0', '0-0'], ['a/1', '0-1']).judge([wrote(1)])).toMatchObject({ lost: 0, unexplained: 1 })
  })
  test('something that is no record of the load', () => {
    expect(tallied(['a/0', 'x']).judge([wrote(0)])).toMatchObject({ seen: 1, unexplained: 1 })
  })
})
