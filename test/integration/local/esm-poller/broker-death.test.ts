import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startPoller } from '../../../../lib/local/esm-poller/poller.ts'
import { startKafka } from '../../../../lib/local/kafka.ts'
import { committedOffsets, produce } from '../../../helpers/producing.ts'
import { createTopic } from '../../../helpers/topics.ts'
import { succeeded, WatchedFunction } from '../../../helpers/watched-function.ts'

test('a broker that is killed during an invocation and comes back loses no record: the commit is made up for', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'fencepost-esm-'))
  const kafka = await startKafka({ version: '4.1', dataDir })
  const topic = await createTopic(kafka.brokers, 'esm-broker', { partitions: 2 })
  await produce(kafka.brokers, topic, [{ partition: 0, value: 'before' }])
  const gate = Promise.withResolvers<void>()
  const watched = new WatchedFunction(async (_, nth) => {
    if (nth === 1) await gate.promise
    return succeeded()
  })
  const poller = await startPoller({
    brokers: kafka.brokers,
    topic,
    group: 'esm',
    function: watched.invoke,
    pollers: 1,
  })
  await watched.until((calls) => calls.length === 1)
  await kafka.nodes[0]?.kill('SIGKILL')
  gate.resolve()
  await watched.until(() => watched.ended.length === 1)
  await kafka.nodes[0]?.restart()
  await produce(kafka.brokers, topic, [
    { partition: 0, value: 'after' },
    { partition: 1, value: 'after' },
  ])
  await watched.until(() => new Set(watched.delivered).size === 3)
  const all = new Map([
    [0, 2],
    [1, 1],
  ])
  await expect.poll(() => committedOffsets(kafka.brokers, 'esm', topic), { timeout: 20_000 }).toEqual(all)
  await poller.stop()
  await kafka.stop()
  await rm(dataDir, { recursive: true, force: true })
})
