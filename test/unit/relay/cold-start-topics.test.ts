import { expect, test, vi } from 'vitest'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { ModelWorld } from '../../helpers/model-world.ts'
import { failureOf, onlyLane, ring } from '../../helpers/ringing.ts'

/** A container whose deployment says whether topics that lose records with one broker are accepted. */
async function containerOf(world: ModelWorld, acceptWeakTopics?: boolean): Promise<RelayRuntime> {
  const { runtime } = await world.process()
  return { ...runtime, settings: { ...runtime.settings, ...(acceptWeakTopics !== undefined && { acceptWeakTopics }) } }
}

function set(world: ModelWorld, topic: string, name: string, value: string): void {
  world.model.topics.find(topic)?.configs.set(name, value)
}

const sound = { 'min.insync.replicas': '2' }
const soundTopics = { source: sound, output: sound, dead: sound }

test('a cold container names every topic setting that cannot keep the promise, relays nothing, and works once they are mended', async () => {
  const world = new ModelWorld(2, { nodes: 3, topics: soundTopics })
  set(world, 'source', 'unclean.leader.election.enable', 'true')
  set(world, 'output', 'min.insync.replicas', '1')
  set(world, 'dead', 'cleanup.policy', 'compact,delete')
  const written = world.produce(3)
  const container = await containerOf(world, false)
  const { code, message } = await world.run(failureOf(ring(container)))
  expect(code).toBe('TOPIC_INVALID')
  expect(message).toContain("relay 'copy' has 3 problems")
  expect(message).toContain('source: unclean.leader.election.enable is true, wanted false. Fix: kafka-configs.sh')
  expect(message).toContain('output: min.insync.replicas is 1, wanted 2 or more. Fix: kafka-configs.sh')
  expect(message).toContain('dead: cleanup.policy is compact,delete, wanted delete. Fix: kafka-configs.sh')
  expect(world.delivered()).toEqual([])

  set(world, 'source', 'unclean.leader.election.enable', 'false')
  set(world, 'output', 'min.insync.replicas', '2')
  set(world, 'dead', 'cleanup.policy', 'delete')
  expect(onlyLane(await world.run(ring(container)))).toMatchObject({ kind: 'done' })
  expect(world.delivered()).toEqual(written)
})

test('risks can be accepted, and are by a cluster of single copies; compacted dead letters cannot', async () => {
  const accepting = new ModelWorld(2, { nodes: 3 })
  accepting.produce(1)
  const container = await containerOf(accepting, true)
  expect(onlyLane(await accepting.run(ring(container)))).toMatchObject({ kind: 'done' })

  const single = new ModelWorld(2)
  single.produce(1)
  expect(onlyLane(await single.run(ring(await containerOf(single, false))))).toMatchObject({ kind: 'done' })

  const compacted = new ModelWorld(2, { topics: { dead: { 'cleanup.policy': 'compact' } } })
  compacted.produce(1)
  const { message } = await compacted.run(failureOf(ring(await containerOf(compacted, true))))
  expect(message).toContain('refuses those without one for ever')
})

test('it is asked in the one request that a cold container sends anyway, and never by a warm one', async () => {
  const world = new ModelWorld(2, { nodes: 3, topics: soundTopics })
  world.produce(1)
  const container = await containerOf(world, false)
  const request = vi.spyOn(container.cluster, 'request')
  const asked = () => request.mock.calls.filter(([, api]) => api === 'DescribeConfigs').length
  await world.run(ring(container))
  expect(asked()).toBe(1)
  world.produce(1)
  await world.run(ring(container))
  expect(asked()).toBe(1)
  expect(world.delivered()).toHaveLength(2)
})
