import { expect, test } from 'vitest'
import { Worker } from '../../../../lib/relay/worker/worker.ts'
import { minutes, seconds } from '../../../../lib/units.ts'
import { ModelWorld } from '../../../helpers/model-world.ts'

test('R13: windows are commitEvery apart, however many shifts lie between them', async () => {
  const world = new ModelWorld(2)
  const { runtime } = await world.process()
  const relay = { ...runtime.relay, commitEveryMs: minutes(1) }
  const committedAtMs: number[] = []
  const observer = { windowCommitted: () => void committedAtMs.push(world.clock.now()) }
  const stopping = new AbortController()
  const options = { shiftMs: seconds(15), drainMs: seconds(5), sweepEveryMs: minutes(5), onTrouble: () => undefined }
  const worker = new Worker({ ...runtime, relay, observer, stopping: stopping.signal }, options)

  const trickle = async () => {
    for (let record = 0; record < 100; record++) {
      world.produce(1)
      await world.clock.sleep(seconds(2))
    }
    stopping.abort()
  }
  const [isDrained] = await world.run(Promise.all([worker.run(), trickle()]))

  const gapsMs = committedAtMs.slice(1).map((atMs, index) => atMs - (committedAtMs[index] ?? 0))
  expect(isDrained).toBe(true)
  expect(committedAtMs.length, 'of 200 s').toBeGreaterThanOrEqual(3)
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(minutes(1))
})
