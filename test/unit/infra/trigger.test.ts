import { expect, test } from 'vitest'
import { type Trigger, triggerOf } from '../../../infra/trigger.ts'
import { minutes, seconds } from '../../../lib/units.ts'

const byLatency: readonly [latencyMs: number, Trigger][] = [
  [0, { kind: 'provisioned', batchingWindowSeconds: 0, pollers: { min: 1, max: 10 } }],
  [999, { kind: 'provisioned', batchingWindowSeconds: 0, pollers: { min: 1, max: 10 } }],
  [seconds(1), { kind: 'linger', everyMinutes: 1 }],
  [4_999, { kind: 'linger', everyMinutes: 1 }],
  [seconds(5), { kind: 'events', batchingWindowSeconds: 5 }],
  [59_999, { kind: 'events', batchingWindowSeconds: 59 }],
  [seconds(60), { kind: 'pull', everyMinutes: 1 }],
  [119_000, { kind: 'pull', everyMinutes: 1 }],
  [minutes(15), { kind: 'pull', everyMinutes: 15 }],
]

test.each(byLatency)(
  'a relay that may take %i ms gets the cheapest trigger that is quick enough',
  (latency, wanted) => {
    expect(triggerOf({ latency, trigger: undefined, pollers: undefined })).toEqual(wanted)
  },
)

test('a trigger that is asked for by name is taken, whatever the latency', () => {
  const its = { latency: seconds(5), pollers: { min: 2, max: 4, group: 'shared' } }
  expect(triggerOf({ ...its, trigger: 'pull' })).toEqual({ kind: 'pull', everyMinutes: 1 })
  expect(triggerOf({ ...its, trigger: 'linger' })).toEqual({ kind: 'linger', everyMinutes: 1 })
  const provisioned = { kind: 'provisioned', batchingWindowSeconds: 5, pollers: its.pollers }
  expect(triggerOf({ ...its, trigger: 'provisioned' })).toEqual(provisioned)
})

test('a batch never waits longer than Lambda allows', () => {
  const window = triggerOf({ latency: minutes(30), trigger: 'events', pollers: undefined })
  expect(window).toEqual({ kind: 'events', batchingWindowSeconds: 300 })
})
