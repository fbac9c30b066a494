import { describe, expect, test } from 'vitest'
import { partialFailures } from '../../../../lib/lambda/partial-failures.ts'
import type { Entry } from '../../../../lib/local/esm-poller/event-encoding.ts'
import { judgeAnswer } from '../../../../lib/local/esm-poller/judge-answer.ts'
import { throttled, tooLarge } from '../../../../lib/local/lambda-host/invoke-result.ts'
import { failed, succeeded } from '../../../helpers/watched-function.ts'

const entries = (partition: number, ...offsets: number[]): Entry[] =>
  offsets.map((offset) => ({ record: { topic: 'a-b', partition, offset }, jsonBytes: 1, arrivedAtMs: 0 }))
const batch = [entries(0, 4, 7, 9), entries(1, 0)]
const items = (...failures: unknown[]) => succeeded({ batchItemFailures: failures })
const item = (partition: string, offset: unknown) => ({ itemIdentifier: { partition, offset } })

describe('with item failures', () => {
  test.each([null, undefined, '', {}, { batchItemFailures: null }, { batchItemFailures: [] }])(
    '%j is success of all',
    (payload) => {
      expect(judgeAnswer(succeeded(payload), batch, true)).toEqual({ kind: 'done' })
    },
  )

  test('the lowest failed offset of each partition counts', () => {
    const verdict = judgeAnswer(items(item('a-b-0', 9), item('a-b-0', 7), item('a-b-1', 0)), batch, true)
    expect(verdict).toEqual({
      kind: 'partly',
      firstFailed: new Map([
        ['a-b-0', 7],
        ['a-b-1', 0],
      ]),
    })
  })

  test('the answer that our functions give is understood', () => {
    const answer = partialFailures([{ topic: 'a-b', partition: 0, fromOffset: 4n }])
    expect(judgeAnswer(succeeded(answer), batch, true)).toEqual({
      kind: 'partly',
      firstFailed: new Map([['a-b-0', 4]]),
    })
  })

  test.each([
    ['another partition', item('a-b-2', 4)],
    ['an offset between records', item('a-b-0', 5)],
    ['an offset as text', item('a-b-0', '4')],
    ['no identifier', {}],
    ['an identifier as text, as other sources have it', { itemIdentifier: 'a-b-0' }],
    ['nothing', null],
  ])('%s makes the whole batch fail, although another item is right', (_, failure) => {
    const verdict = judgeAnswer(items(item('a-b-1', 0), failure), batch, true)
    expect(verdict).toMatchObject({ kind: 'again', cause: expect.stringContaining('names no record of the batch') })
  })

  test('failures that are no list make the whole batch fail', () => {
    expect(judgeAnswer(succeeded({ batchItemFailures: {} }), batch, true)).toMatchObject({ kind: 'again' })
  })
})

test('without item failures any success is success of all', () => {
  expect(judgeAnswer(items(item('a-b-0', 4)), batch, false)).toEqual({ kind: 'done' })
})

test('a function error brings the whole batch again, with its reason', () => {
  expect(judgeAnswer(failed('no broker'), batch, true)).toEqual({ kind: 'again', cause: 'Error: no broker' })
})

test('a refusal for concurrency is told apart from one for size', () => {
  expect(judgeAnswer(throttled('r', 'f', 1), batch, false)).toMatchObject({ kind: 'throttled' })
  expect(judgeAnswer(tooLarge('r', 7_000_000), batch, false)).toMatchObject({ kind: 'again' })
})
