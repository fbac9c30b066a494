import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BatchBuilder } from '../../../lib/kafka/record-batch/encode.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { type KafkaVersion, kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { sweepRelay } from '../../../lib/relay/sweep.ts'
import { fencepost, moduleOf } from '../../helpers/fencepost-command.ts'
import { initProducer, type Producer, within } from '../../helpers/kafka-client.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { batches, laneOn, offsetOf, openReady } from '../../helpers/sessions.ts'
import { freshName } from '../../helpers/stack.ts'

/** Without partition verification a broker takes transactional batches of producers that no coordinator knows. */
const config = { 'transaction.partition.verification.enable': 'false' }

describe.each(kafkaVersions)('fencepost abort-hanging, Kafka %s', (version) => {
  const brokers = ownBroker(version)

  test('ends what no coordinator knows, and the relay goes on behind it', async () => {
    const { world, before, abort } = await prepared(brokers())
    await initProducer(world.cluster, freshName('somebody'))
    await writeUnannounced(world, { producerId: 424_242n, producerEpoch: 3 })
    const behind = await world.produce(2)
    const bell = eventOf(world.names.source, 0, 5)
    const blocked = await failureOf(ring(await world.container(), bell))
    expect(blocked).toMatchObject({
      code: 'SOURCE_BLOCKED',
      message: expect.stringContaining('fencepost abort-hanging'),
    })

    const seen = await abort('--older-than', '0s', '--json')
    const hanging = {
      topic: world.names.source,
      partition: 0,
      startOffset: '3',
      producerId: '424242',
      producerEpoch: 3,
      verdict: 'hanging',
      transactionalId: null,
      ended: false,
    }
    expect(seen).toMatchObject({ code: 1, json: { ok: false, dryRun: true, transactions: [hanging] } })
    const young = await abort('--yes', '--json')
    expect(young, 'within the longest transaction timeout').toMatchObject({
      code: 0,
      json: { ok: true, transactions: [{ ...hanging, verdict: 'young' }] },
    })
    expect(await failureOf(ring(await world.container(), bell))).toMatchObject({ code: 'SOURCE_BLOCKED' })

    const ended = await abort('--older-than', '0s', '--yes')
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ .*-0 from 3, producer 424242.*: ended/) })
    expect(onlyLane(await ring(await world.container(), bell))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual([...before, ...behind])
    expect(await abort('--older-than', '0s')).toMatchObject({ code: 0, stdout: 'No transaction is open.\n' })
  })

  test('a pull and the sweep name what has held readers back for longer than any transaction may last (R15)', async () => {
    const { world, before, abort } = await prepared(brokers())
    await initProducer(world.cluster, freshName('somebody'))
    await writeUnannounced(world, { producerId: 515_151n, producerEpoch: 0 }, Date.now() - 20 * 60_000)
    const behind = await world.produce(2)
    const blocked = { kind: 'failed', error: { code: 'SOURCE_BLOCKED', disposition: 'retry' } }
    const pulled = onlyLane(await ring(await world.container()))
    expect(pulled).toMatchObject(blocked)
    const said = 'for longer than any transaction may last records lie above the last stable offset (partition 0 at 3)'
    expect(pulled).toMatchObject({ error: { message: expect.stringContaining(said) } })
    expect(pulled).toMatchObject({ error: { message: expect.stringContaining('held by producer 515151 epoch 0') } })
    const lingering = { kind: 'pull', lingerUntilMs: Date.now() + 1_500 } as const
    expect(onlyLane(await ring(await world.container(), lingering)), 'and one that lingers').toMatchObject(blocked)
    const runtime = await world.container()
    expect(onlyLane(await sweepRelay(runtime, 'sweep', within(20_000)))).toMatchObject(blocked)
    expect(await abort('--yes'), 'and the default age is the same').toMatchObject({ code: 0 })
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done', windows: 1 })
    expect(await world.delivered()).toEqual([...before, ...behind])
  })

  test('a pull is content beside a live transaction, though its records are dated back', async () => {
    const { world } = await prepared(brokers())
    const { source } = world.names
    const session = await openReady(world.cluster, laneOn(source))
    await session.begin([{ topic: source, partition: 0 }], within(5_000))
    const replayed = new BatchBuilder({ maxBytes: 1_000_000 })
    replayed.tryAppend({ key: null, value: Buffer.from('old'), timestampMs: Date.now() - 20 * 60_000 })
    await session.send([{ topic: source, partition: 0, batches: [replayed] }], within(5_000))
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done', windows: 0 })
  })

  test('leaves a live transaction alone: its commit keeps its records (P9)', async () => {
    const { world, before, abort } = await prepared(brokers())
    const { source } = world.names
    const theirs = laneOn(source)
    const session = await openReady(world.cluster, theirs)
    await session.begin([{ topic: source, partition: 0 }], within(5_000))
    await session.send([batches(source, 0, ['f1', 'f2'])], within(5_000))
    const refused = await abort('--older-than', '0s', '--yes', '--json')
    const found = { verdict: 'live', ours: false, transactionalId: theirs.transactionalId, ended: false }
    expect(refused).toMatchObject({ code: 0, json: { ok: true, dryRun: false, transactions: [found] } })
    await session.sendOffsets([offsetOf(theirs, 3)], within(5_000))
    await session.commit(within(5_000))
    await ring(await world.container(), eventOf(source, 0, 4))
    expect(await world.delivered()).toEqual([...before, 'f1', 'f2'])
  })

  test('ends a late write of a known producer only once its epoch is fenced', async () => {
    const { world, before, abort } = await prepared(brokers())
    const id = freshName('late')
    const late = await initProducer(world.cluster, id)
    await writeUnannounced(world, late)
    const refused = await abort('--older-than', '0s', '--yes', '--json')
    const found = { verdict: 'not fenced', transactionalId: id, ended: false }
    expect(refused).toMatchObject({ code: 0, json: { transactions: [found] } })
    expect(await initProducer(world.cluster, id)).toMatchObject({ producerEpoch: late.producerEpoch + 1 })
    const ended = await abort('--older-than', '0s', '--yes', '--json')
    expect(ended).toMatchObject({ code: 0, json: { transactions: [{ verdict: 'hanging', ended: true }] } })
    const behind = await world.produce(1)
    await ring(await world.container(), eventOf(world.names.source, 0, 6))
    expect(await world.delivered()).toEqual([...before, ...behind])
  })

  test("leaves the relay's own to its bells and sweep, and names a topic that is not there", async () => {
    const { world, abort } = await prepared(brokers())
    const { source, output } = world.names
    const { transactionalId, group } = world.lane()
    const session = await openReady(world.cluster, laneOn(source, { transactionalId, group }))
    await session.begin([{ topic: output, partition: 0 }], within(5_000))
    await session.send([batches(output, 0, ['never seen'])], within(5_000))
    const seen = await abort('--older-than', '0s', '--yes')
    expect(seen.code).toBe(0)
    expect(seen.stdout).toContain('of this relay: its next bell or sweep ends it')
    const missing = await abort('--topic', 'nowhere', '--json')
    expect(missing).toMatchObject({ code: 1, json: { ok: false, code: 'TOPIC_MISSING' } })
  })
})

function ownBroker(version: KafkaVersion): () => readonly string[] {
  let dataDir: string
  let kafka: KafkaHandle
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'fencepost-hanging-'))
    kafka = await startKafka({ version, dataDir, config })
  })
  afterAll(async () => {
    await kafka?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  return () => kafka.brokers
}

/** Three records, relayed. */
async function prepared(brokers: readonly string[]) {
  const world = await relayWorld({ brokers })
  const before = await world.produce(3)
  await ring(await world.container())
  const module = await moduleOf(world)
  return { world, before, abort: (...args: string[]) => fencepost(world, module, ['abort-hanging', ...args]) }
}

/** A transactional batch whose coordinator was never told of the partition, by a request that does not tell it either. */
async function writeUnannounced(world: RelayWorld, producer: Producer, atMs = Date.now()): Promise<void> {
  const { source: topic } = world.names
  const batch = new BatchBuilder({ maxBytes: 1_000_000 })
  batch.tryAppend({ key: null, value: Buffer.from('ghost'), timestampMs: atMs })
  const records = batch.build({ ...producer, baseSequence: 0, transactional: true })
  const topicData = [{ name: topic, partitionData: [{ index: 0, records }] }]
  const request = { transactionalId: 'ghost', acks: -1, timeoutMs: 5_000, topicData }
  const leader = { to: 'leader', topic, partition: 0 } as const
  const { body } = await world.cluster.request(leader, 'Produce', request, within(5_000), { maxVersion: 11 })
  expect(body.responses[0]?.partitionResponses[0]).toMatchObject({ errorCode: 0 })
}
