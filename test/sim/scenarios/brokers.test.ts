import { describe, expect, it } from 'vitest'
import { offsetsTopic } from '../../../lib/testing/broker-model/topics.ts'
import { group, topics } from '../sim-relay.ts'
import { perform, type Stage } from './stage.ts'

/** Another node coordinates the group; the old one has not heard of it and answers from what it knew (P1). */
function moveGroupUnseen({ world: { model } }: Stage): { heal(): void } {
  const { partition, leader } = model.groupPartition(group)
  const heir = model.nodes.find(({ id }) => id !== leader)?.id
  if (leader === null || heir === undefined) throw new Error('three nodes, all up')
  model.moveLeader({ topic: offsetsTopic, partition }, heir, 'stale')
  return { heal: () => model.catchUp(leader) }
}

function moveOffset({ world: { model, clock } }: Stage, offset: bigint): void {
  const coordinator = model.groupCoordinator(model.groupPartition(group).partition)
  coordinator.commit(
    group,
    [{ topic: topics.source, partition: 0, offset, leaderEpoch: -1, metadata: '' }],
    clock.now(),
  )
}

describe.each([1, 2] as const)('protocol %i', (protocol) => {
  it.each(['released', 'killed'])(
    'S3: a stale coordinator answers an old offset, the last owner was %s',
    async (how) => {
      await perform({ protocol }, async (stage) => {
        const [owner, heir] = [await stage.container(), await stage.container()]
        stage.write(2)
        expect(await stage.ring(owner, stage.event())).toEqual(['done'])
        expect(await stage.ring(heir, stage.event())).toEqual(['done'])
        const move = moveGroupUnseen(stage)
        stage.write(2)
        let ends = 0
        stage.world.script = {
          step(process, what, side) {
            if (process !== owner.process || what !== 'EndTxn' || side !== 'after') return
            if (++ends === 2 && how === 'killed') process.die()
          },
        }
        await stage.ring(owner, stage.event())
        await stage.sleep(6_000)
        expect(await stage.ring(heir, stage.event())).toEqual(['done'])
        stage.write(1)
        expect(await stage.ring(heir, stage.event())).toEqual(['done'])
        move.heal()
      })
    },
  )

  it('S3: a stale coordinator knows of no offset at all: the lane goes on where it is', async () => {
    await perform({ protocol }, async (stage) => {
      const [owner, heir] = [await stage.container(), await stage.container()]
      expect(await stage.ring(heir, { kind: 'sweep' })).toEqual(['done'])
      const move = moveGroupUnseen(stage)
      stage.write(3)
      expect(await stage.ring(owner, stage.event())).toEqual(['done'])
      expect(await stage.ring(heir, stage.event())).toEqual(['done'])
      stage.write(3)
      expect(await stage.ring(heir, stage.event())).toEqual(['done'])
      move.heal()
    })
  })

  it('S4: a lane left dirty, one of its partitions idle, through eight days with a sweep every twelve hours', async () => {
    const lanes = { sourcePartitions: 2, partitionsPerLane: 2, outputPartitions: 2, windowRecords: 10 }
    await perform({ protocol, lanes }, async (stage) => {
      stage.write(2, 0)
      stage.write(2, 1)
      const [owner, victim] = [await stage.container(), await stage.container()]
      expect(await stage.ring(owner, { kind: 'pull', lingerUntilMs: null })).toEqual(['done'])
      stage.write(2, 0)
      stage.world.script = {
        step(process, what, side) {
          if (process === victim.process && what === 'EndTxn' && side === 'after') process.die()
        },
      }
      expect(await stage.ring(victim, stage.event(0))).toBe('died')
      for (let halfDays = 0; halfDays < 16; halfDays++) {
        await stage.sleep(12 * 3_600_000)
        expect(await stage.ring(await stage.container(), { kind: 'sweep' })).toEqual(['done'])
      }
      stage.world.judge.archive()
      stage.world.model.runScans()
      expect(stage.world.judge.hasCommittedAll).toBe(true)
      stage.write(2, 0)
      expect(await stage.ring(owner, stage.event(0))).toEqual(['done'])
    })
  })

  it('S6: an offset set by hand far above the end of the log: no bell is past it, the lane stops by name', async () => {
    await perform({ protocol }, async (stage) => {
      stage.world.judge.expectedStops.add('OFFSET_MOVED')
      const container = await stage.container()
      stage.write(2)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      moveOffset(stage, 1_000n)
      stage.write(2)
      expect(await stage.ring(await stage.container(), stage.event())).toEqual(['stopped OFFSET_MOVED'])
    })
  })

  it('S11: a bell for a stopped lane is answered with success, without a barrier and without counting a death', async () => {
    await perform({ protocol }, async (stage) => {
      stage.world.judge.expectedStops.add('OFFSET_MOVED')
      const container = await stage.container()
      stage.write(2)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      moveOffset(stage, 0n)
      expect(await stage.ring(await stage.container(), stage.event())).toEqual(['stopped OFFSET_MOVED'])
      const { transactions } = stage.world.model
      const epoch = transactions.find(stage.lane)?.producerEpoch
      const record = await stage.world.fences.read(stage.lane)
      for (const ringing of [container, await stage.container()]) {
        expect(await stage.ring(ringing, stage.event())).toEqual(['stopped OFFSET_MOVED'])
      }
      expect(transactions.find(stage.lane)?.producerEpoch).toBe(epoch)
      expect(await stage.world.fences.read(stage.lane)).toEqual(record)
    })
  })

  it('S11: a source held open by a foreign transaction is named, and relayed as soon as that has timed out', async () => {
    await perform({ protocol }, async (stage) => {
      const container = await stage.container()
      stage.write(2)
      const before = stage.event()
      await stage.source.holdOpen(0)
      stage.write(2)
      expect(await stage.ring(container, stage.event())).toEqual(['failed SOURCE_BLOCKED'])
      expect(await stage.ring(container, before)).toEqual(['done'])
      expect(await stage.ring(container, { kind: 'pull', lingerUntilMs: null })).toEqual(['done'])
      await stage.sleep(stage.source.transactionTimeoutMs + 20_000)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
    })
  })

  it('S13: an output partition is offline for an hour: rings fail, then everything is relayed once', async () => {
    await perform({ protocol }, async (stage) => {
      const container = await stage.container()
      stage.write(2)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      const output = stage.world.model.topics.partition(topics.out, 0)
      if (output === undefined) throw new Error('no output')
      stage.write(6)
      output.leader = null
      for (let tries = 0; tries < 4; tries++) {
        const [ended] = await stage.ring(tries % 2 ? container : await stage.container(), stage.event())
        expect(ended).toMatch(/^failed /)
        await stage.sleep(15 * 60_000)
      }
      stage.world.model.moveLeader(output, 1)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
    })
  })
})
