import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { readRights } from '../../../lib/preflight/facts/read-rights.ts'
import type { Finding } from '../../../lib/preflight/finding.ts'
import type { PreflightReport } from '../../../lib/preflight/preflight.ts'
import { type CliRun, runCliProcess } from '../../helpers/cli.ts'
import { deploymentEnv } from '../../helpers/deployment-env.ts'
import { moduleOf } from '../../helpers/fencepost-command.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { runMarker, untilNothingLeft } from '../../helpers/leftovers.ts'
import { recreateTopic, setTopicConfig } from '../../helpers/operator.ts'
import { produceTransaction } from '../../helpers/producing.ts'
import { fenceTable, relayWorld } from '../../helpers/relay-world.ts'
import { ring } from '../../helpers/ringing.ts'
import { freshName } from '../../helpers/stack.ts'
import { createTopicNamed } from '../../helpers/topics.ts'

/** The environment is read as that of a function, strictly: the run's own mark is no setting. */
const { [runMarker]: _, ...environment } = process.env

async function preflight(args: readonly string[], env: NodeJS.ProcessEnv = environment) {
  const { code, stdout, stderr } = await runCliProcess(['preflight', '--json', ...args], env).ended
  const last = stdout.trim().split('\n').at(-1) ?? ''
  return { code, stderr, report: JSON.parse(last === '' ? 'null' : last) as PreflightReport }
}

const of = (status: Finding['status'], { checks }: PreflightReport): readonly string[] =>
  checks.filter((check) => check.status === status).map(({ id, about }) => `${id} ${about}`)

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-preflight-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

test('beside a fencepost dev it finds the stack and its relay by itself, and every check is ok', {
  timeout: 120_000,
}, async () => {
  const dir = await directory()
  const runId = crypto.randomUUID()
  const args = ['dev', '--dir', dir, '--json', '--relay', 'relays/delays.ts', '--create-topics', '1']
  const dev: CliRun = runCliProcess(args, { ...process.env, [runMarker]: runId })
  try {
    await dev.firstLine
    const { code, report } = await preflight(['--dir', dir])
    expect(report.checks.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(report).toMatchObject({ ok: true, prefix: 'dev', relays: ['delays'] })
    expect(report.checks.length).toBeGreaterThan(40)
    expect(code).toBe(0)
  } finally {
    dev.child.kill('SIGINT')
    await dev.ended
  }
  await untilNothingLeft(runId, systemClock, 5_000)
  const afterwards = await preflight(['--dir', dir])
  expect(afterwards.code).toBe(1)
  expect(afterwards.stderr).toContain('FENCEPOST_BROKERS is missing')
})

const badTemplate = {
  Resources: {
    BadFunction: {
      Type: 'AWS::Lambda::Function',
      Properties: { Timeout: 900, Environment: { Variables: { FENCEPOST_PARTIAL_FAILURES: 'true' } } },
    },
    BadMapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        FunctionName: { Ref: 'BadFunction' },
        Topics: ['bad'],
        StartingPosition: 'LATEST',
        MaximumRetryAttempts: 3,
        MaximumRecordAgeInSeconds: 3600,
        BisectBatchOnFunctionError: true,
        DestinationConfig: { OnFailure: { Destination: 'arn:aws:sqs:eu-central-1:1:dead' } },
        SelfManagedEventSource: {},
        SelfManagedKafkaEventSourceConfig: {
          ConsumerGroupId: 'bad.copy',
          ConsumptionMode: 'Queue',
          SchemaRegistryConfig: {},
        },
      },
    },
  },
}

describe('on a broker that is configured badly on purpose', () => {
  let kafka: KafkaHandle
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'fencepost-bad-'))
    kafka = await startKafka({
      version: '4.1',
      dataDir: dir,
      config: {
        'transaction.max.timeout.ms': '60000',
        'offsets.retention.minutes': '10',
        'transactional.id.expiration.ms': '600000',
        'transaction.partition.verification.enable': 'false',
        'unclean.leader.election.enable': 'true',
      },
    })
  })
  afterAll(async () => {
    await kafka.stop()
    await rm(dir, { recursive: true, force: true })
  })

  test('all that is wrong is named at once, with its fix, and the exit code is 1', async () => {
    const cluster = clusterAt(kafka.brokers)
    onTestFinished(() => cluster.close())
    const names = { source: 'bad', output: 'bad.out', dead: 'bad.dead' }
    const config = { 'retention.ms': '60000', 'retention.bytes': '1000', 'cleanup.policy': 'compact,delete' }
    await createTopicNamed(cluster, names.source, { config })
    await createTopicNamed(cluster, names.dead, {
      config: { 'cleanup.policy': 'compact', 'max.message.bytes': '1000' },
    })
    await produceTransaction(kafka.brokers, names.source, [{ key: 'a', value: 'a' }], 'commit')
    const module = await moduleOf({ names }, { more: "read: 'event', guarantee: 'at-least-once'," })
    await cluster.locate({ to: 'group-coordinator', key: 'bad.copy' }, within(10_000))
    await fenceTable()
    const env = {
      ...environment,
      ...(await deploymentEnv({ prefix: 'bad', brokers: kafka.brokers, table: 'no-such-table' })),
      FENCEPOST_TRANSACTION_TIMEOUT_MS: '90000',
    }
    const template = join(await directory(), 'template.json')
    await writeFile(template, JSON.stringify(badTemplate))
    const { code, report } = await preflight(['--relay', module, '--sweep-every', '15m', '--template', template], env)

    expect(of('fail', report)).toEqual([
      'broker.verification broker',
      'broker.transaction-timeout broker',
      'broker.offsets-retention broker',
      'broker.id-expiration broker',
      'source.retention bad',
      'topic.exists bad.out',
      'topic.copies bad',
      'topic.min-isr bad',
      'topic.unclean-election bad',
      'topic.copies bad.dead',
      'topic.min-isr bad.dead',
      'topic.unclean-election bad.dead',
      'topic.dead-letter-policy bad.dead',
      'topic.copies __transaction_state',
      'topic.min-isr __transaction_state',
      'topic.copies __consumer_offsets',
      'topic.min-isr __consumer_offsets',
      'topic.unclean-election __consumer_offsets',
      'source.transactions bad',
      'table.exists table',
      'mapping.retries BadMapping',
      'mapping.record-age BadMapping',
      'mapping.destination BadMapping',
      'mapping.mode BadMapping',
      'mapping.schema-registry BadMapping',
      'mapping.function-timeout BadMapping',
      'mapping.consumer-group BadMapping',
      'mapping.partial-failures BadMapping',
      'mapping.transaction-timeout BadMapping',
    ])
    expect(of('warn', report)).toEqual([
      'source.retention-bytes bad',
      'topic.source-policy bad',
      'topic.message-bytes bad.dead',
      'mapping.bisect BadMapping',
      'mapping.starting-position BadMapping',
    ])
    expect(report.checks.filter(({ status, fix }) => (status === 'fail' || status === 'warn') && !fix)).toEqual([])
    expect(code).toBe(1)
  })

  test('a broker that does not answer hides nothing of the table, and the other way round', async () => {
    const module = await moduleOf({ names: { source: 'bad', output: 'bad.out', dead: 'bad.dead' } })
    await fenceTable()
    const env = { ...environment, ...(await deploymentEnv({ prefix: 'bad', brokers: ['127.0.0.1:1'] })) }
    const { code, report } = await preflight(['--relay', module], env)
    expect(of('fail', report)).toEqual(['broker.reached broker'])
    expect(of('ok', report)).toContain('table.exists table')
    expect(code).toBe(1)
  })
})

describe.each(['4.1', '3.9'] as const)('a relay that works on Kafka %s', (version) => {
  test('has a prefix of its own, until another deployment uses it with another table', {
    timeout: 60_000,
  }, async () => {
    const world = await relayWorld({ version })
    const module = await moduleOf(world)
    await world.produce(2)
    await ring(await world.container())
    const look = async (table?: string) => {
      const env = { ...environment, ...(await deploymentEnv({ ...world, ...(table && { table }) })) }
      return preflight(['--relay', module, '--accept-weak-topics'], env)
    }
    const own = await look()
    expect(of('fail', own.report)).toEqual([])
    expect(of('ok', own.report)).toEqual(
      expect.arrayContaining(['broker.version broker', `prefix.own ${world.prefix}.copy`]),
    )
    expect(own.code).toBe(0)

    const other = freshName('other')
    await fenceTable({ table: other })
    const { code, report } = await look(other)
    expect(report.checks.filter(({ status }) => status === 'fail')).toMatchObject([
      { id: 'prefix.own', found: expect.stringContaining('whose fence record is not in this table') },
    ])
    expect(code).toBe(1)

    await recreateTopic(world.cluster, world.names.source)
    const anew = await look()
    expect(of('fail', anew.report)).toEqual([`source.same ${world.names.source}`])
  })

  test('is not disturbed by the questions: rights are asked in its transactional id while it is warm', async () => {
    const world = await relayWorld({ version })
    const container = await world.container()
    const written = await world.produce(2)
    await ring(container)
    const rights = await readRights(world.cluster, world.prefix, [container.relay], within(10_000))
    expect(rights.filter(({ granted }) => !granted.told || !granted.value)).toEqual([])
    written.push(...(await world.produce(2)))
    const request = vi.spyOn(container.cluster, 'request')
    const { lanes } = await ring(container)
    expect(request.mock.calls.map(([, api]) => api)).not.toContain('InitProducerId') // its session is still its own
    expect(request.mock.calls.map(([, api]) => api)).toContain('EndTxn')
    expect(lanes).toMatchObject([{ kind: 'done', windows: 1 }])
    expect(await world.delivered()).toEqual(written)
  })
})

test('a deployment whose dead letters are compacted refuses to work until they are not, and loses nothing', {
  timeout: 60_000,
}, async () => {
  const world = await relayWorld()
  const module = await moduleOf(world)
  const written = await world.produce(3)
  const env = { ...environment, ...(await deploymentEnv(world)) }
  const drain = () => runCliProcess(['drain', '--relay', module, '--json'], env).ended

  await setTopicConfig(world.cluster, world.names.dead, 'cleanup.policy', 'compact')
  const refused = await drain()
  expect(refused.code).toBe(1)
  expect(refused.stdout).toContain(
    `${world.names.dead}: cleanup.policy is compact, wanted delete. Fix: kafka-configs.sh`,
  )
  expect(await world.delivered()).toEqual([])

  await setTopicConfig(world.cluster, world.names.dead, 'cleanup.policy', 'delete')
  expect((await drain()).code).toBe(0)
  expect(await world.delivered()).toEqual(written)
})
