import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hours } from '../../lib/units.ts'
import { checks } from '../../lib/verify/judge.ts'
import { type ClusterUnderTest, Scene } from './verify/scene.ts'

const counts = {
  lost: 0,
  unseen: 0,
  duplicated: 0,
  ahead: 0,
  outOfOrder: 0,
  unexplained: 0,
  foreign: 0,
  abortedSeen: 0,
  openTransactions: 0,
  lag: 0,
}

const range = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => from + index)

/** What the verifier says of what a real relay did and of what was done to it, on real brokers and on their model. */
export function verifyContract(
  name: string,
  start: () => Promise<ClusterUnderTest & { close(): Promise<void> }>,
): void {
  describe(`a relay on ${name}, verified`, () => {
    let under: ClusterUnderTest & { close(): Promise<void> }
    beforeAll(async () => {
      under = await start()
    })
    afterAll(() => under.close())

    const scenario = (title: string, body: (scene: Scene) => Promise<void>) =>
      test(title, () => under.run(Scene.make(under).then(body)))

    /** 29 records, of which 3 are dropped and 2 are malformed: 26 outputs. */
    async function relayed(scene: Scene): Promise<void> {
      await scene.produce(0, [...range(0, 10), 'no json', -1, ...range(10, 16)])
      await scene.produce(1, [...range(100, 108), -2, -3, '{"n":'])
      await scene.ring()
    }

    scenario('is proven when nothing is wrong', async (scene) => {
      await relayed(scene)
      const report = await scene.verify({ complete: true })
      expect(report.findings).toHaveLength(checks.length)
      expect(report).toMatchObject({
        ...counts,
        ok: true,
        verdict: 'proven',
        records: 29,
        expected: 26,
        delivered: 26,
        deadLetters: 2,
        abortedTransactions: 0,
      })
    })

    scenario('is proven as far as it has come; what is left is lag', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20, 21, 22])
      expect(await scene.verify()).toMatchObject({ ...counts, ok: true, lag: 3, expected: 26, delivered: 26 })
      expect(await scene.verify({ complete: true })).toMatchObject({ ok: false, verdict: 'unproven', lag: 3 })
    })

    scenario('is never accused of anything while it works', async (scene) => {
      await scene.ring()
      for (let round = 0; round < 6; round++) {
        await scene.produce(0, [...range(round * 40, round * 40 + 30), 'no json'])
        await scene.produce(1, range(round * 40 + 1_000, round * 40 + 1_030))
        const [, first, second] = await Promise.all([scene.ring(), scene.verify(), scene.verify()])
        expect(
          [first.findings, second.findings].flat().filter(({ status }) => /violated|unproven/.test(status)),
        ).toEqual([])
      }
      expect(await scene.verify({ complete: true })).toMatchObject({ ...counts, ok: true, records: 366, expected: 366 })
    })

    scenario('is not proven before its first ring', async (scene) => {
      await scene.produce(0, [1, 2, 3])
      expect(await scene.verify()).toMatchObject({ ...counts, verdict: 'unproven', records: 0, expected: 0, lag: 3 })
    })

    scenario('is not accused by whoever asks with a wrong prefix', async (scene) => {
      await relayed(scene)
      expect(await scene.verify({ prefix: `${scene.prefix}-other` })).toMatchObject({ verdict: 'unproven', ahead: 26 })
    })

    scenario('has lost a record whose offset was committed without its output', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20, 21])
      await (await scene.seize()).transact([scene.doubled(20, 0)], 2, 'commit')
      const report = await scene.verify()
      expect(report).toMatchObject({ ...counts, verdict: 'violated', lost: 1 })
      const finding = report.findings.find(({ check }) => check === 'lost')
      expect(finding?.examples).toEqual([expect.stringMatching(/^numbers-.+\/0\/19, not in odd-.+\/0$/)])
    })

    scenario('has a duplicate, whoever wrote it', async (scene) => {
      await relayed(scene)
      await scene.append([scene.doubled(4, 0)])
      expect(await scene.verify()).toMatchObject({ ...counts, verdict: 'violated', duplicated: 1, delivered: 26 })
    })

    scenario('shows an output before its offset is committed', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20])
      await (await scene.seize()).transact([scene.doubled(20, 0)], 0, 'commit')
      expect(await scene.verify()).toMatchObject({ ...counts, verdict: 'violated', ahead: 1, lag: 1 })
    })

    scenario('has exchanged two records', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20, 22])
      await (await scene.seize()).transact([scene.doubled(22, 0), scene.doubled(20, 0)], 2, 'commit')
      expect(await scene.verify()).toMatchObject({ ...counts, verdict: 'violated', outOfOrder: 1 })
    })

    scenario('wrote something that no record gives', async (scene) => {
      await relayed(scene)
      await (await scene.seize()).transact([scene.doubled(999, 0)], 0, 'commit')
      expect(await scene.verify()).toMatchObject({ ...counts, verdict: 'violated', unexplained: 1 })
    })

    scenario('shares its topic with a stranger', async (scene) => {
      await relayed(scene)
      await scene.append([scene.doubled(999, 0)])
      expect(await scene.verify()).toMatchObject({ ...counts, ok: true, foreign: 1 })
    })

    scenario('aborted a window: nobody has seen it, and it is counted', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20])
      await (await scene.seize()).transact([scene.doubled(20, 0)], 1, 'abort')
      await scene.ring()
      expect(await scene.verify({ complete: true })).toMatchObject({
        ...counts,
        ok: true,
        abortedTransactions: 1,
        expected: 27,
        delivered: 27,
      })
    })

    scenario('left a transaction open', async (scene) => {
      await relayed(scene)
      await scene.produce(0, [20])
      await (await scene.seize()).transact([scene.doubled(20, 0)], 0, 'open')
      const report = await scene.verify({ settleMs: 1_000 })
      expect(report).toMatchObject({ ...counts, verdict: 'violated', openTransactions: 1, lag: 1 })
      await scene.ring()
      expect(await scene.verify({ complete: true })).toMatchObject({ ...counts, ok: true, expected: 27, delivered: 27 })
    })

    scenario('left a transaction open by the id of a lane that there is no more', async (scene) => {
      await relayed(scene)
      const id = `${scene.prefix}.sort.elsewhere.7`
      await (await scene.seizeId(0, id)).transact([scene.doubled(4, 0)], 0, 'open')
      const report = await scene.verify({ settleMs: 1_000 })
      expect(report).toMatchObject({ ...counts, verdict: 'violated', openTransactions: 1 })
      await (await scene.seizeId(0, id)).transact([], 0, 'abort')
    })

    test('is proven up to the record at which it stopped, which is not transformed again', async () => {
      const scene = await under.run(Scene.make(under, 'stop'))
      await under.run(scene.produce(0, [1, 2]))
      await under.run(scene.ring())
      await under.run(scene.produce(0, ['no json', 3]))
      await under.run(scene.ring())
      const report = await under.run(scene.verify())
      expect(report).toMatchObject({ ...counts, ok: true, expected: 2, delivered: 2, lag: 2 })
      expect(report.findings.find(({ check }) => check === 'lanes')).toMatchObject({ status: 'noted', count: 1 })
      await under.run(scene.append([scene.doubled(999, 0)]))
      expect(await under.run(scene.verify())).toMatchObject({ ok: true, foreign: 1, ahead: 0, lag: 2 })
    })

    scenario('had its offset set by hand', async (scene) => {
      await relayed(scene)
      await scene.commitByHand(0, 3n)
      const report = await scene.verify()
      expect(report).toMatchObject({ verdict: 'violated', lost: 0, duplicated: 0 })
      expect(report.findings.filter(({ status }) => status === 'violated').map(({ check }) => check)).toContain(
        'offsets',
      )
    })

    scenario('is proven by ids where each record gives one output', async (scene) => {
      await scene.produce(0, [1, 3, 'no json', 5])
      await scene.produce(1, [7, 9])
      await scene.ring()
      const id = { in: 'value', path: ['n'] } as const
      expect(await scene.verify({ id })).toMatchObject({ ...counts, ok: true, by: 'ids', expected: 6, delivered: 6 })
      await scene.produce(0, [11])
      await (await scene.seize()).transact([], 1, 'commit')
      expect(await scene.verify({ id })).toMatchObject({ ...counts, verdict: 'violated', lost: 1 })
    })

    scenario('is judged for the last hour only when asked to', async (scene) => {
      await scene.produce(0, [1, 2, 3], hours(3))
      await scene.produce(0, [4, 5])
      await scene.produce(1, [6, 'no json'], hours(2))
      await scene.ring()
      await scene.append([scene.doubled(4, 0)])
      expect(await scene.verify()).toMatchObject({ ...counts, expected: 7, delivered: 7, duplicated: 1 })
      const lastHour = await scene.verify({ lastMs: hours(1) })
      expect(lastHour).toMatchObject({ ...counts, records: 2, expected: 2, delivered: 2, duplicated: 1 })
      await under.cluster.clock.sleep(100)
      expect(await scene.verify({ lastMs: 50 })).toMatchObject({ ...counts, ok: true, records: 0, expected: 0 })
    })
  })
}
