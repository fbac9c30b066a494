import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { asItIs, type Broken, proxiedLane, throughProxy } from '../../helpers/proxied-lane.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { ring } from '../../helpers/ringing.ts'
import {
  batches,
  committedOf,
  failureOf,
  laneOn,
  offsetOf,
  openReady,
  settledOffset,
  type TestLane,
  valuesIn,
  window,
} from '../../helpers/sessions.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'
import { hidesSilence } from '../../sim/controls/hides-silence.ts'
import { newSequence } from '../../sim/controls/new-sequence.ts'
import { silenceIsFailure } from '../../sim/controls/silence-is-failure.ts'
import { skipsStepNine } from '../../sim/controls/skips-step-nine.ts'

/**
 * One schedule, played with the rule and without it, on a real broker. What goes wrong without the rule shows that the
 * schedule is one in which the rule is needed.
 */
describe.each(kafkaVersions)('the same schedule with a rule and without it, on Kafka %s', (version) => {
  const older = version === '3.9'
  let brokers: readonly string[]
  let direct: Cluster

  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    direct = clusterAt(brokers)
  })
  afterAll(() => direct.close())

  /** A lane that has relayed one window, and what its session is told to do. */
  async function relayed(broken: Broken) {
    const made = await proxiedLane(brokers, 'rule', { broken })
    const { topic, lane, session } = made
    const begin = (of = session) => of.begin([{ topic, partition: 0 }], within(10_000))
    const send = (value: string, of = session) => of.send([batches(topic, 0, [value])], within(10_000))
    const sendOffset = (offset: number, of = session) => of.sendOffsets([offsetOf(lane, offset)], within(10_000))
    return { ...made, begin, send, sendOffset, visible: () => valuesIn(direct, topic) }
  }

  test.each([
    ['with', ['one', 'two']],
    ['without', ['one', 'two', 'two']],
  ] as const)('R1: the offset is read behind the barrier, %s it', async (rule, values) => {
    const { cluster, lane: id, topic, session, begin, send, sendOffset, visible } = await relayed(asItIs)
    await begin()
    await Promise.all([send('two'), sendOffset(2)])
    const early = Number(await committedOf(direct, id))
    await session.commit(within(10_000))
    const heir = await openReady(cluster, id)
    const [behind] = await heir.readCommitted([id.source], within(5_000))
    const found = rule === 'with' ? Number(behind?.offset) : early
    if (found < 2) await window(heir, id, topic, ['two'], 2)
    expect(await visible()).toEqual(values)
  })

  test.each([
    ['with', asItIs, ['one', 'two']],
    ['without', newSequence.cluster, ['one', 'two', 'two']],
  ] as const)('R2: an unanswered batch is sent again under its own sequence, %s it', async (_, broken, values) => {
    const { proxy, lane: id, topic, session, visible } = await relayed(broken)
    const lost = proxy.dropAnswers('Produce')
    await window(session, id, topic, ['two'], 2)
    expect(lost.fired).toBe(1)
    expect(await visible()).toEqual(values)
  })

  test.each([
    ['with', asItIs, 1],
    ['without', silenceIsFailure.cluster, 2],
  ] as const)('R3: an unanswered commit is unknown, not failed, %s it', async (_, broken, times) => {
    const world = await relayWorld({ version })
    const { proxy, cluster } = await throughProxy(brokers, broken)
    const runtime = await world.container({ cluster })
    const before = await world.produce(3)
    await ring(runtime)
    const values = await world.produce(3)
    const lost = proxy.dropAnswers('EndTxn')
    await ring(runtime)
    expect(lost.fired).toBe(1)
    const delivered = await world.delivered()
    expect(delivered).toEqual([...before, ...Array.from({ length: times }, () => values).flat()])
  })

  test.each([
    ['with', ['one', 'two']],
    ['without', ['one', 'two', 'two']],
  ] as const)('R4: a lane has one transactional id, %s it', async (rule, values) => {
    const { cluster, lane: id, topic, begin, send, session, sendOffset, visible } = await relayed(asItIs)
    await begin()
    await send('two')
    const heirs = rule === 'with' ? id : { ...id, transactionalId: freshName('id') }
    await window(await openReady(cluster, heirs), heirs, topic, ['two'], 2)
    const late = sendOffset(2).then(() => session.commit(within(10_000)))
    if (rule === 'with') expect((await failureOf(late)).code).toBe('SESSION_FENCED')
    else await late
    expect(await visible()).toEqual(values)
  })

  test.each([
    ['with', asItIs, ['one', 'two', 'three']],
    ['without', hidesSilence.cluster, older ? ['one', 'two', 'three', 'three'] : ['one', 'two', 'three']],
  ] as const)(
    'R5, P3: the older protocol leaves a session whose request was not answered, %s that',
    async (_, broken, values) => {
      const { proxy, cluster, lane: id, topic, session, begin, send, sendOffset, visible } = await relayed(broken)
      const late = proxy.hold('EndTxn')
      await window(session, id, topic, ['two'], 2)
      const next = session.reusable ? session : await openReady(cluster, id)
      await begin(next)
      await send('three', next)
      await late.arrive()
      const failed = await sendOffset(3, next).then(
        () => next.commit(within(10_000)).then(() => null),
        (error) => error,
      )
      if (failed !== null) {
        expect(failed).toMatchObject({ outcome: 'not-applied' }) // and yet its records are visible
        const heir = await openReady(cluster, id)
        expect(await heir.readCommitted([id.source], within(5_000))).toMatchObject([{ offset: 2n }])
        await window(heir, id, topic, ['three'], 3)
      }
      expect(await visible()).toEqual(values)
    },
  )

  test.each([
    ['with', asItIs, 41],
    ['without', skipsStepNine.cluster, 1],
  ] as const)(
    'step 9, P2: an offset that was moved by hand is noticed before the commit, %s it',
    async (rule, broken, committed) => {
      const { cluster } = await throughProxy(brokers, broken)
      const topic = await createTopic(brokers, 'rule')
      const id = laneOn(topic)
      const session = await openReady(cluster, id)
      await commitByHand(id, 41n)
      const outcome = await window(session, id, topic, ['one'], 1).catch((error) => error)
      if (rule === 'with') expect(outcome).toMatchObject({ code: 'OFFSETS_DISAGREE', outcome: 'not-applied' })
      await session.abort(within(5_000))
      await openReady(direct, id)
      expect(await settledOffset(direct, id)).toBe(committed)
    },
  )

  async function commitByHand({ group, source }: TestLane, offset: bigint): Promise<void> {
    const partitions = [{ partitionIndex: source.partition, committedOffset: offset, committedMetadata: '' }]
    const topics = [{ name: source.topic, partitions }]
    const target = { to: 'group-coordinator', key: group } as const
    const options = { maxVersion: 9 }
    const { body } = await direct.request(target, 'OffsetCommit', { groupId: group, topics }, within(5_000), options)
    expect(body.topics[0]?.partitions[0]?.errorCode).toBe(0)
  }
})
