import { describe, expect, test } from 'vitest'
import { type KafkaVersion, kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { within } from '../../helpers/kafka-client.ts'
import { readCommitted } from '../../helpers/read-committed.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { batches, laneOn, offsetOf, openReady } from '../../helpers/sessions.ts'

/** Three records, two in an open transaction of somebody else, two more behind them. */
async function blockedWorld(version: KafkaVersion) {
  const world = await relayWorld({ version })
  const { source } = world.names
  const before = await world.produce(3)
  const theirs = laneOn(source)
  const foreign = await openReady(world.cluster, theirs)
  await foreign.begin([{ topic: source, partition: 0 }], within(5_000))
  await foreign.send([batches(source, 0, ['f1', 'f2'])], within(5_000))
  await foreign.sendOffsets([offsetOf(theirs, 1)], within(5_000))
  const finish = async (end: 'commit' | 'abort') => {
    await foreign[end](within(5_000))
    await readCommitted(world.cluster, source, 1)
  }
  return { world, foreign, finish, before, behind: await world.produce(2) }
}

describe.each(kafkaVersions)('a source held back by an open transaction, Kafka %s', (version) => {
  test.each([
    ['commit', ['f1', 'f2']],
    ['abort', []],
  ] as const)('what lies behind it waits by name, and is relayed once it has ended by %s', async (end, theirs) => {
    const { world, foreign, finish, before, behind } = await blockedWorld(version)
    const bell = eventOf(world.names.source, 0, 6)
    for (const runtime of [await world.container(), await world.container()]) {
      const failure = await failureOf(ring(runtime, bell))
      expect(failure).toMatchObject({ code: 'SOURCE_BLOCKED', disposition: 'retry' })
      const holder = `producer ${foreign.producerId} epoch ${foreign.producerEpoch} since offset 3`
      expect(failure.message).toContain('(partition 0 at 3)')
      expect(failure.message).toContain(`behind an open transaction, held by ${holder}`)
      expect(failure.message).toContain('once that ends, by itself or, if it hangs, by fencepost abort-hanging')
      expect(await world.delivered()).toEqual(before)
    }
    await finish(end)
    expect(onlyLane(await ring(await world.container(), bell))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual([...before, ...theirs, ...behind])
  })

  test('a scheduled pull relays what lies below it and is content', async () => {
    const { world, finish, before, behind } = await blockedWorld(version)
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done', windows: 1 })
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done', windows: 0 })
    await finish('abort')
    await ring(await world.container())
    expect(await world.delivered()).toEqual([...before, ...behind])
  })
})
