import { expect, test } from 'vitest'
import { stretches } from '../../../../lib/local/chaos/timeline.ts'

const t0 = 1_000_000
const sample = (second: number, written: number, relayed: number, windows: number) => {
  return { atMs: t0 + second * 1_000, written, relayed, windows }
}
const fault = (name: string, from: number, until: number) => {
  return { name, beganMs: t0 + from * 1_000, endedMs: t0 + until * 1_000, hit: 'x' }
}

test('each stretch tells the lag at its end, the windows within it, and the faults at work in it', () => {
  const samples = [0, 1, 2, 3, 4].map((second) => sample(second, second * 10, second * 8, second * 3))
  const found = stretches(samples, [fault('a', 0.5, 2.5), fault('b', 3.2, 3.4), fault('a', 3.9, 4.1)], 2)
  expect(found).toEqual([
    { second: 2, written: 20, relayed: 16, lag: 4, windows: 6, faults: ['a'] },
    { second: 4, written: 40, relayed: 32, lag: 8, windows: 6, faults: ['a', 'b'] },
  ])
})

test('a relay that is counted a moment after the load has no negative lag', () => {
  expect(stretches([sample(0, 0, 0, 0), sample(1, 5, 9, 1)], [], 10)).toMatchObject([{ lag: 0 }])
})

test('without samples there is nothing to tell', () => {
  expect(stretches([], [], 10)).toEqual([])
})
