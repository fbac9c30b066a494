import { expect, test } from 'vitest'
import { sightingIn } from '../../../../lib/local/chaos/java-reader.ts'
import { numberedValue } from '../../../../lib/local/chaos/numbers.ts'

const value = numberedValue({ partition: 3, number: 17 }).toString()

test('a line of the console consumer tells place and number of an output', () => {
  expect(sightingIn(`Partition:2\tOffset:41\tNO_HEADERS\t${value}`)).toEqual({
    output: 'output 2',
    offset: 41,
    record: { partition: 3, number: 17 },
  })
})

test('a dead letter is told from an output by its headers', () => {
  const line = `Partition:0\tOffset:0\tfencepost-relay:numbered,fencepost-partition:3\t${value}`
  expect(sightingIn(line)).toMatchObject({ output: 'dead letter 0', record: { partition: 3, number: 17 } })
})

test('a record that the load did not write is seen as one', () => {
  expect(sightingIn('Partition:0\tOffset:5\tNO_HEADERS\tsomething else')).toMatchObject({ offset: 5, record: null })
})

test.each([
  ['is cut', value.slice(0, -1)],
  ['is longer', `${value} `],
  ['was changed behind its id', value.replace('xx', 'xy')],
])('a value that %s is not the one that the load wrote', (_, changed) => {
  expect(sightingIn(`Partition:0\tOffset:5\tNO_HEADERS\t${changed}`)).toMatchObject({ offset: 5, record: null })
})

test.each([
  '',
  '[main] WARN org.apache.kafka.clients.NetworkClient - Connection to node 1 could not be established',
  'Processed a total of 7980 messages',
])('%j is no record', (line) => {
  expect(sightingIn(line)).toBeNull()
})
