import { expect, test } from 'vitest'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { TransformTurns } from '../../../lib/relay/transform-turns.ts'

function turns() {
  const taking = new TransformTurns()
  const running = new Set<string>()
  const begin = (name: string, alone: boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = taking.take(alone, async () => {
      running.add(name)
      await promise
      running.delete(name)
    })
    const end = () => {
      resolve()
      return ended
    }
    return { end }
  }
  return { begin, running }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('lanes transform side by side', async () => {
  const { begin, running } = turns()
  const [one, other] = [begin('one', false), begin('other', false)]
  await settled()
  expect([...running]).toEqual(['one', 'other'])
  await Promise.all([one.end(), other.end()])
})

test('a suspected record waits until nobody else transforms, and nobody begins beside it', async () => {
  const { begin, running } = turns()
  const first = begin('first', false)
  const suspected = begin('suspected', true)
  const later = begin('later', false)
  await settled()
  expect([...running]).toEqual(['first'])
  await first.end()
  await settled()
  expect([...running]).toEqual(['suspected'])
  await suspected.end()
  await settled()
  expect([...running]).toEqual(['later'])
  await later.end()
})

test('two suspected records follow one another', async () => {
  const { begin, running } = turns()
  const [one, other] = [begin('one', true), begin('other', true)]
  await settled()
  expect([...running]).toEqual(['one'])
  await one.end()
  await settled()
  expect([...running]).toEqual(['other'])
  await other.end()
})

test('a transform that throws gives its turn away', async () => {
  const taking = new TransformTurns()
  const failing = taking.take(true, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect(await taking.take(false, async () => 'next')).toBe('next')
})

test('the lanes of one container share their turns, containers do not', () => {
  const [one, other] = [{} as RelayRuntime, {} as RelayRuntime]
  expect(TransformTurns.of(one)).toBe(TransformTurns.of(one))
  expect(TransformTurns.of(other)).not.toBe(TransformTurns.of(one))
})
