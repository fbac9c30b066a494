import { describe, expect, test } from 'vitest'
import type { Header } from '../../../lib/kafka/record.ts'
import { contentIdentity, type Identity, idIdentity, idOf } from '../../../lib/verify/identity.ts'

const header = (key: string, value: string): Header => ({ key, value: Buffer.from(value) })
const record = (value: string, headers: readonly Header[] = []) => ({ key: null, value: Buffer.from(value), headers })
const letter = (relay: string, offset: number, attempt = 1) =>
  record('{bad', [
    header('fencepost.relay', relay),
    header('fencepost.source.topic', 'in'),
    header('fencepost.source.partition', '2'),
    header('fencepost.source.offset', String(offset)),
    header('fencepost.error.code', 'DECODE_FAILED'),
    header('fencepost.attempt', String(attempt)),
  ])

const print = (identity: Identity, topic: string, output: number, one: ReturnType<typeof record>) => {
  const found = identity.of(topic, output, one)
  return found && `${found.high} ${found.low}`
}

describe('by content', () => {
  const identity = contentIdentity('copy', 'dead')

  test('an output belongs to its partition', () => {
    expect(print(identity, 'out', 0, record('a'))).not.toBe(print(identity, 'out', 1, record('a')))
  })

  test('a dead letter is the record that it names, however often it was tried', () => {
    expect(print(identity, 'dead', 0, letter('copy', 5, 1))).toBe(print(identity, 'dead', 0, letter('copy', 5, 4)))
    expect(print(identity, 'dead', 0, letter('copy', 5))).not.toBe(print(identity, 'dead', 0, letter('copy', 6)))
  })

  test('the headers of a dead letter mean nothing in another topic', () => {
    expect(print(identity, 'out', 0, letter('copy', 5, 1))).not.toBe(print(identity, 'out', 0, letter('copy', 5, 4)))
  })

  test('dead letters of another relay are none of ours', () => {
    expect(print(identity, 'dead', 0, letter('other', 5))).toBeNull()
  })

  test('a record without those headers in the dead letter topic counts as it is', () => {
    expect(print(identity, 'dead', 0, record('x'))).not.toBeNull()
  })
})

test('a dead letter that was one before is what it is now', () => {
  const identity = contentIdentity('copy', 'dead')
  const again = record('x', [...letter('first', 5).headers, ...letter('copy', 9).headers])
  expect(print(identity, 'dead', 0, again)).toBe(print(identity, 'dead', 0, letter('copy', 9)))
})

describe('by id', () => {
  const value = (...path: string[]) => ({ in: 'value', path }) as const

  test.each([
    ['a field', value('id'), '{"id":7}', '7'],
    ['text, which is no number', value('id'), '{"id":"7"}', '"7"'],
    ['a field of a field', value('order', 'id'), '{"order":{"id":7}}', '7'],
    ['an element', value('ids', '1'), '{"ids":[4,5]}', '5'],
    ['a number of more digits than JavaScript has', value('id'), '{"id":1152921504606846977}', '1152921504606846977'],
    [
      'such a number in an id of several parts',
      value('id'),
      '{"id":[-1152921504606846977,7]}',
      '["-1152921504606846977",7]',
    ],
    ['a fraction', value('id'), '{"id":0.5,"of":1152921504606846977}', '0.5'],
    ['a field that is missing', value('id'), '{}', null],
    ['a field that is null', value('id'), '{"id":null}', null],
    ['what every object has', value('constructor'), '{}', null],
    ['no JSON', value('id'), '{bad', null],
  ])('%s', (_, place, text, wanted) => {
    expect(idOf(place, record(text))).toBe(wanted)
  })

  test('a header', () => {
    const place = { in: 'header', name: 'id' } as const
    expect(idOf(place, record('x', [header('other', '1'), header('id', '7')]))).toBe('7')
    expect(idOf(place, record('x'))).toBeNull()
  })

  test('an id is the same wherever it went, and apart from the value', () => {
    const identity = idIdentity(value('id'))
    expect(print(identity, 'late', 0, record('{"id":7,"km":1}'))).toBe(print(identity, 'in', -1, record('{"id":7}')))
    expect(print(identity, 'late', 0, record('{"id":8}'))).not.toBe(print(identity, 'in', -1, record('{"id":7}')))
  })

  test('a malformed record is its value, with whatever headers', () => {
    const identity = idIdentity(value('id'))
    expect(print(identity, 'dead', 0, letter('copy', 1))).toBe(print(identity, 'in', -1, record('{bad')))
  })
})
