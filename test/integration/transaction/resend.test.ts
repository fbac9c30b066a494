import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sooner, systemClock } from '../../../lib/clock.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { Api } from '../../../lib/kafka/protocol/generated/index.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import type { TransactionSession } from '../../../lib/transaction/session.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import type { KafkaProxy } from '../../helpers/kafka-proxy.ts'
import { proxiedLane } from '../../helpers/proxied-lane.ts'
import {
  batches,
  failureOf,
  offsetOf,
  openReady,
  settledOffset,
  type TestLane,
  valuesIn,
  window,
} from '../../helpers/sessions.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'

describe.each(kafkaVersions)('a session on Kafka %s whose connection breaks', (version) => {
  const older = version === '3.9'
  let brokers: readonly string[]
  let direct: Cluster
  let proxy: KafkaProxy
  let proxied: Cluster
  let topic: string
  let lane: TestLane
  let session: TransactionSession

  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    direct = clusterAt(brokers)
  })
  afterAll(() => direct.close())
  beforeEach(async () => {
    ;({ proxy, cluster: proxied, topic, lane, session } = await proxiedLane(brokers, 'resend'))
  })

  const begin = () => session.begin([{ topic, partition: 0 }], within(10_000))
  const send = (values: readonly string[]) => session.send([batches(topic, 0, values)], within(10_000))
  const sendOffset = (offset: number) => session.sendOffsets([offsetOf(lane, offset)], within(10_000))
  const sent = (api: Api) => proxy.requests.filter((each) => each === api).length

  /** What a successor finds after its barrier, and what a reader sees then. */
  async function expectLast(values: readonly string[], offset: number): Promise<TransactionSession> {
    const next = await openReady(direct, lane)
    expect(await next.readCommitted([lane.source], within(5_000))).toMatchObject([{ offset: BigInt(offset) }])
    expect(await valuesIn(direct, topic)).toEqual(values)
    return next
  }

  const applied: readonly Api[] = [
    'Produce',
    'TxnOffsetCommit',
    ...(older ? (['AddPartitionsToTxn', 'AddOffsetsToTxn'] as const) : []),
  ]

  test.each(applied)(
    'after a lost %s answer the identical bytes are sent again: one copy, and the commit holds',
    async (api) => {
      const before = sent(api)
      const fault = proxy.dropAnswers(api)
      await begin()
      await Promise.all([send(['two', 'three']), sendOffset(2)])
      await session.commit(within(10_000))
      expect(fault.fired).toBe(1)
      expect(sent(api) - before).toBeGreaterThanOrEqual(2)
      expect(session.reusable).toBe(!older)
      await expectLast(['one', 'two', 'three'], 2)
    },
  )

  test('a lost EndTxn answer is resolved by sending it again: committed', async () => {
    const fault = proxy.dropAnswers('EndTxn')
    await window(session, lane, topic, ['two'], 2)
    expect(fault.fired).toBe(1)
    expect(session.reusable).toBe(!older)
    await expectLast(['one', 'two'], 2)
  })

  test('several windows after a lost answer are still one copy each', async () => {
    proxy.dropAnswers('Produce')
    await window(session, lane, topic, ['two'], 2)
    const next = older ? await openReady(proxied, lane) : session
    const fault = proxy.dropAnswers('EndTxn')
    await window(next, lane, topic, ['three'], 3)
    const last = older ? await openReady(proxied, lane) : next
    await window(last, lane, topic, ['four'], 4)
    expect(fault.fired).toBe(1)
    await expectLast(['one', 'two', 'three', 'four'], 4)
  })

  test('a commit that reached the broker and is never answered is unknown; barrier and offset read tell that it holds', async () => {
    await begin()
    await Promise.all([send(['two']), sendOffset(2)])
    const fault = proxy.dropAnswers('EndTxn', Number.POSITIVE_INFINITY)
    const failure = await failureOf(session.commit(within(1_500)))
    expect(failure).toMatchObject({ code: 'COMMIT_UNKNOWN', disposition: 'reopen', outcome: 'unknown' })
    expect(fault.fired).toBeGreaterThan(0)
    expect(session).toMatchObject({ state: 'unknown', reusable: false })
    const next = await expectLast(['one', 'two'], 2)
    await window(next, lane, topic, ['three'], 3)
    await expectLast(['one', 'two', 'three'], 3)
  })

  test('a commit that never reached the broker is unknown too; barrier and offset read tell that it does not hold', async () => {
    await begin()
    await Promise.all([send(['two']), sendOffset(2)])
    const fault = proxy.block('EndTxn')
    const failure = await failureOf(session.commit(within(1_500)))
    expect(failure).toMatchObject({ code: 'COMMIT_UNKNOWN', outcome: 'unknown' })
    expect(fault.fired).toBeGreaterThan(0)
    await expectLast(['one'], 1)
  })

  test('EndTxn sent again after a successor has passed its barrier is refused, although it had committed: unknown, not failed', async () => {
    await begin()
    await Promise.all([send(['two']), sendOffset(2)])
    const lost = proxy.dropAnswers('EndTxn')
    const commit = failureOf(session.commit(within(20_000)))
    await until(() => lost.fired === 1)
    const blocked = proxy.block('EndTxn')
    const successor = await openReady(direct, lane)
    blocked.lift()
    expect(await commit).toMatchObject({ code: 'COMMIT_UNKNOWN', outcome: 'unknown' })
    expect(await successor.readCommitted([lane.source], within(5_000))).toMatchObject([{ offset: 2n }])
    expect(await valuesIn(direct, topic)).toEqual(['one', 'two'])
  })

  test('no abort is sent while a transmission is unanswered: the barrier ends the transaction (P5)', async () => {
    await begin()
    const fault = proxy.dropAnswers('Produce', Number.POSITIVE_INFINITY)
    const deadline = sooner(systemClock, within(10_000), 1_000)
    const failure = await failureOf(session.send([batches(topic, 0, ['two'])], deadline))
    expect(failure).toMatchObject({ code: 'SESSION_POISONED', disposition: 'reopen', outcome: 'not-applied' })
    expect(fault.fired).toBeGreaterThan(0)
    const before = sent('EndTxn')
    await session.abort(within(5_000))
    expect(session.state).toBe('closed')
    expect(sent('EndTxn')).toBe(before)
    const next = await openReady(direct, lane)
    await window(next, lane, topic, ['two'], 2)
    await expectLast(['one', 'two'], 2)
  })

  test('a request that was sent again with success still arrives, in the next transaction: it changes nothing (P3)', async () => {
    const held = proxy.hold('TxnOffsetCommit')
    await window(session, lane, topic, ['two'], 2)
    expect(held.fired).toBe(1)
    expect(session.reusable).toBe(!older)
    if (older) expect((await failureOf(begin())).code).toBe('SESSION_POISONED')
    const next = older ? await openReady(proxied, lane) : session
    await next.begin([{ topic, partition: 0 }], within(10_000))
    await next.send([batches(topic, 0, ['three'])], within(10_000))
    await held.arrive()
    await next.sendOffsets([offsetOf(lane, 3)], within(10_000))
    await next.commit(within(10_000))
    await expectLast(['one', 'two', 'three'], 3)
  })

  test('the same behind the offsets of the next transaction: what the older coordinator drops is sent once more before the commit', async () => {
    const held = proxy.hold('TxnOffsetCommit')
    await window(session, lane, topic, ['two'], 2)
    const next = older ? await openReady(proxied, lane) : session
    await next.begin([{ topic, partition: 0 }], within(10_000))
    await next.send([batches(topic, 0, ['three'])], within(10_000))
    await next.sendOffsets([offsetOf(lane, 3)], within(10_000))
    await held.arrive()
    const before = sent('TxnOffsetCommit')
    await next.commit(within(10_000))
    expect(sent('TxnOffsetCommit') - before).toBe(older ? 1 : 0)
    await expectLast(['one', 'two', 'three'], 3)
  })

  test('the same between the last look and EndTxn: what the older coordinator drops is committed once more', async () => {
    const held = proxy.hold('TxnOffsetCommit')
    await window(session, lane, topic, ['two'], 2)
    const next = older ? await openReady(proxied, lane) : session
    const late = proxy.before('EndTxn', () => held.arrive())
    const before = sent('EndTxn')
    await window(next, lane, topic, ['three'], 3)
    expect(late.fired).toBe(1)
    expect(sent('EndTxn') - before).toBe(older ? 2 : 1)
    await expectLast(['one', 'two', 'three'], 3)
  })

  test('a late copy of a batch never becomes visible in the next transaction (P5)', async () => {
    await begin()
    const held = proxy.hold('Produce')
    await Promise.all([send(['two']), sendOffset(2)])
    await session.commit(within(10_000))
    const next = older ? await openReady(proxied, lane) : session
    await next.begin([{ topic, partition: 0 }], within(10_000))
    await next.send([batches(topic, 0, ['three'])], within(10_000))
    await held.arrive()
    await next.sendOffsets([offsetOf(lane, 3)], within(10_000))
    await next.commit(within(10_000))
    expect(held.fired).toBe(1)
    await expectLast(['one', 'two', 'three'], 3)
    expect(await settledOffset(direct, lane)).toBe(3)
  })

  test('a lost answer to the barrier itself costs nothing but another barrier', async () => {
    const fault = proxy.dropAnswers('InitProducerId')
    const next = await openReady(proxied, lane)
    expect(fault.fired).toBe(1)
    await window(next, lane, topic, ['two'], 2)
    await expectLast(['one', 'two'], 2)
  })
})

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = within(10_000); !holds(); ) {
    if (deadline.remainingMs() <= 0) throw new Error('it did not come to pass')
    await systemClock.sleep(1)
  }
}
