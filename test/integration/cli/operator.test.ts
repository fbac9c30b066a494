import { describe, expect, test } from 'vitest'
import { fencepost, moduleOf } from '../../helpers/fencepost-command.ts'
import { committedBy, editFence, fenceOf, moveOffset } from '../../helpers/operator.ts'
import { readCommitted } from '../../helpers/read-committed.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { ring } from '../../helpers/ringing.ts'
import { relayedFive, stopsWith } from '../../helpers/stopped-lanes.ts'

describe('an operator', () => {
  test('sees a stopped lane, looks at what a reset would do, resets it, and drains it', async () => {
    const { world, lane, values } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, 2)
    await stopsWith(world, 'OFFSET_MOVED')
    const module = await moduleOf(world)
    const run = (...args: string[]) => fencepost(world, module, args)

    const seen = await run('status')
    expect(seen.code).toBe(1)
    expect(seen.stdout).toMatch(/copy, prefix .*, source .*\n.*lane +partition +state +position +lag/s)
    expect(seen.stdout).toMatch(/ 0 +0 +stopped +5 +3 +\d+ +.* ago +-\n/)
    expect(seen.stdout.replaceAll(/\s+/g, ' ')).toContain('OFFSET_MOVED: lane')

    const planned = await run('reset', '--to', '3', '--dry-run', '--json')
    expect(planned).toMatchObject({ code: 0, json: { ok: true, dryRun: true } })
    expect(planned.json.lanes).toEqual([
      {
        lane: lane.transactionalId,
        state: 'planned',
        stopped: 'OFFSET_MOVED',
        partitions: [{ partition: 0, from: '5', to: '3', skipped: '0', repeated: '2' }],
      },
    ])
    expect(planned.stderr).toContain('lane 0, partition 0: from 5 to 3, up to 2 records are relayed once more')
    expect((await committedBy(world.cluster, lane)).offset).toBe(2n)

    const unsure = await run('reset', '--to', '3')
    expect(unsure).toMatchObject({ code: 1, stderr: expect.stringContaining('say --yes, since nobody can be asked') })
    expect((await committedBy(world.cluster, lane)).offset).toBe(2n)

    const reset = await run('reset', '--to', '3', '--yes')
    expect(reset).toMatchObject({ code: 0, stdout: expect.stringContaining(`✓ ${lane.transactionalId}: goes on from`) })
    const drained = await run('drain', '--json')
    expect(drained).toMatchObject({ code: 0, json: { ok: true, counts: { records: 5, outputs: 5, windows: 1 } } })
    expect(await world.delivered()).toEqual([...values, ...values.slice(3), ...more])
    expect((await run('status', '--json')).json).toMatchObject({ ok: true, lanes: [{ state: 'up to date', lag: '0' }] })
  })

  test('resumes a lane that is mended; one that is held is refused by name', async () => {
    const { world, lane, values, committed } = await relayedFive()
    await moveOffset(world.cluster, lane, 2)
    await stopsWith(world, 'OFFSET_MOVED')
    await moveOffset(world.cluster, lane, 5, committed.metadata)
    const module = await moduleOf(world)
    const resumed = await fencepost(world, module, ['resume'])
    expect(resumed).toMatchObject({
      code: 0,
      stdout: `✓ ${lane.transactionalId} goes on; it was stopped by OFFSET_MOVED\n`,
    })
    expect(await fencepost(world, module, ['resume'])).toMatchObject({ code: 0, stdout: 'No lane is stopped.\n' })

    const owner = { nonce: 'n', container: 'function-1', requestId: 'request-7' }
    await editFence(world.fences, lane.transactionalId, { owner, leaseUntilMs: Date.now() + 60_000 })
    const refused = await fencepost(world, module, ['reset', '--to', 'earliest', '--yes', '--json'])
    expect(refused).toMatchObject({
      code: 1,
      json: { ok: false, lanes: [{ state: 'not reset', code: 'LANE_LEASED' }] },
    })
    expect((await fenceOf(world.fences, lane.transactionalId)).owner).toEqual(owner)
    expect(await world.delivered()).toEqual(values)
  })

  test.each(['4.1', '3.9'] as const)(
    'redrives dead letters: counted, sent once, relayed when mended, Kafka %s',
    async (version) => {
      const world = await relayWorld({ version })
      const values = await world.produce(3)
      const refusing = await moduleOf(world, { refusing: true })
      expect(await fencepost(world, refusing, ['drain', '--json'])).toMatchObject({
        json: { counts: { deadLetters: 3 } },
      })
      const mended = await moduleOf(world)
      const counted = await fencepost(world, mended, ['redrive', '--dry-run'])
      expect(counted.code).toBe(0)
      expect(counted.stdout).toMatch(/3 dead letters to send to 'source-.*'\n {2}TRANSFORM_FAILED +3\n/)
      const sent = await fencepost(world, mended, ['redrive', '--yes', '--json'])
      expect(sent).toMatchObject({ code: 0, json: { ok: true, waiting: 3, sent: 3, left: [] } })
      const again = await fencepost(world, mended, ['redrive', '--yes', '--json'])
      expect(again).toMatchObject({ code: 0, json: { ok: true, waiting: 0, sent: 0 } })
      expect(await readCommitted(world.cluster, world.names.source, 1)).toEqual([...values, ...values])
      await ring(await world.container({ settings: { generation: null } }))
      expect(await world.delivered()).toEqual(values)
    },
  )

  test.each([
    [['reset', '--to', 'yesterday'], 2, '"yesterday" is none of earliest, latest, 1200 (an offset)'],
    [['reset', '--to', '2026-08-01T06:00'], 2, 'a time with its zone'],
    [['reset', '--to', '4,5', '--yes'], 2, '"4,5" is none of'],
    [['reset', '--to', '9', '--yes'], 1, 'partition 0 has offsets 0 to 5, not 9'],
    [['reset', '--to', '7:1', '--yes'], 1, 'partition 7 is not of the lanes that are meant'],
    [['resume', '--lanes', '3'], 1, 'lane 3 does not exist: the relay has 1, from 0 to 0'],
    [['resume', '--lanes', 'x'], 2, '"x" is not a list of lane numbers'],
  ])('%j is refused with exit code %i', async (args, code, message) => {
    const { world } = await relayedFive()
    const refused = await fencepost(world, await moduleOf(world), args)
    expect(refused.stderr).toContain(message)
    expect(refused.code).toBe(code)
  })
})
