import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Facts, MappingFacts, TopicState } from '../../../lib/preflight/facts/facts.ts'
import { brokerSettings } from '../../../lib/preflight/facts/read-cluster.ts'
import { type Status, type Told, told, untold } from '../../../lib/preflight/finding.ts'
import { judge } from '../../../lib/preflight/preflight.ts'
import { minutes } from '../../../lib/units.ts'
import {
  lineageWith,
  metadataOf,
  soundBroker,
  soundFacts,
  soundMapping,
  stateWith,
} from '../../helpers/preflight-facts.ts'

/** One thing put wrong, the check that must say so, and about what. */
interface Fault {
  readonly id: string
  readonly facts: Partial<Facts>
  readonly status?: Status
  readonly about: string
  readonly found: string
}

function known<T>(fact: Told<T>): T {
  if (!fact.told) throw new Error('the sound facts are told')
  return fact.value
}
const cluster = known(soundFacts.cluster)
const topics = known(soundFacts.topics)
const rights = known(soundFacts.rights)
const table = known(soundFacts.table)

/** A cluster whose second broker has another value. */
const broker = (name: string, found: string): Partial<Facts> => ({
  cluster: told({
    ...cluster,
    settings: new Map([...cluster.settings, [2, told(new Map(Object.entries({ ...soundBroker, [name]: found })))]]),
  }),
})

const topic = (name: string, state: TopicState | null): Partial<Facts> => ({
  topics: told(topics.map((each) => (each.name === name ? { ...each, state: told(state) } : each))),
})
const setting = (name: string, settings: Readonly<Record<string, string>>): Partial<Facts> =>
  topic(name, stateWith({}, settings))

const refused = (resource: string): Partial<Facts> => ({
  rights: told(rights.map((each) => (each.acl.resource === resource ? { ...each, granted: told(false) } : each))),
})
const mapping = (change: Partial<MappingFacts>): Partial<Facts> => ({ mappings: [{ ...soundMapping, ...change }] })

const faults: readonly Fault[] = [
  {
    id: 'broker.reached',
    facts: { cluster: untold('no broker answered') },
    about: 'broker',
    found: 'no broker answered',
  },
  {
    id: 'broker.version',
    facts: { cluster: told({ ...cluster, features: new Map([['metadata.version', 11]]) }) },
    about: 'broker',
    found: 'Kafka 3.5 or earlier (metadata.version 11)',
  },
  {
    id: 'broker.version',
    facts: { cluster: told({ ...cluster, features: new Map(), highestVersions: new Map([[1, 13]]) }) },
    about: 'broker',
    found: 'Kafka 3.4 or earlier (Fetch 13)',
  },
  { id: 'broker.verification', facts: broker(brokerSettings.verification, 'false'), about: 'broker 2', found: 'false' },
  {
    id: 'broker.transaction-timeout',
    facts: broker(brokerSettings.transactionTimeoutMax, '60000'),
    about: 'broker 2',
    found: '60000',
  },
  {
    id: 'broker.offsets-retention',
    facts: broker(brokerSettings.offsetsRetention, '44'),
    about: 'broker 2',
    found: '44',
  },
  {
    id: 'broker.id-expiration',
    facts: broker(brokerSettings.idExpiration, '60000'),
    about: 'broker 2',
    found: '60000',
  },
  {
    id: 'source.retention',
    facts: setting('orders', { 'retention.ms': String(minutes(14)) }),
    about: 'orders',
    found: '840000',
  },
  {
    id: 'source.retention',
    status: 'warn',
    facts: setting('orders', { 'retention.ms': String(minutes(30)) }),
    about: 'orders',
    found: '1800000',
  },
  {
    id: 'source.retention-bytes',
    status: 'warn',
    facts: setting('orders', { 'retention.bytes': '1000' }),
    about: 'orders',
    found: '1000',
  },
  { id: 'topic.exists', facts: topic('orders.out', null), about: 'orders.out', found: 'missing (output)' },
  {
    id: 'topic.leaders',
    facts: topic('orders', stateWith({ partitions: 4, leaderless: [1, 3] })),
    about: 'orders',
    found: '1, 3 without a leader',
  },
  {
    id: 'topic.source-policy',
    status: 'warn',
    facts: setting('orders', { 'cleanup.policy': 'compact' }),
    about: 'orders',
    found: 'compact',
  },
  {
    id: 'topic.message-bytes',
    status: 'warn',
    facts: setting('orders.dead', { 'max.message.bytes': '1000' }),
    about: 'orders.dead',
    found: '1000',
  },
  { id: 'topic.copies', facts: topic('orders.out', stateWith({ copies: 1 })), about: 'orders.out', found: '1' },
  {
    id: 'topic.copies',
    status: 'warn',
    facts: topic('orders.out', stateWith({ copies: 2 })),
    about: 'orders.out',
    found: '2',
  },
  {
    id: 'topic.copies',
    facts: topic('__transaction_state', stateWith({ copies: 1 })),
    about: '__transaction_state',
    found: '1',
  },
  {
    id: 'topic.copies',
    facts: { ...topic('__consumer_offsets', null), ...broker(brokerSettings.offsetsCopies, '1') },
    about: '__consumer_offsets',
    found: '1',
  },
  {
    id: 'topic.min-isr',
    facts: setting('orders.out', { 'min.insync.replicas': '1' }),
    about: 'orders.out',
    found: '1',
  },
  {
    id: 'topic.unclean-election',
    facts: setting('orders', { 'unclean.leader.election.enable': 'true' }),
    about: 'orders',
    found: 'true',
  },
  {
    id: 'topic.dead-letter-policy',
    facts: setting('orders.dead', { 'cleanup.policy': 'compact,delete' }),
    about: 'orders.dead',
    found: 'compact,delete',
  },
  { id: 'acl.topic', facts: refused('topic'), about: 'orders', found: 'refused' },
  { id: 'acl.transactional-id', facts: refused('transactional id'), about: 'shop.copy.orders.', found: 'refused' },
  { id: 'acl.group', facts: refused('group'), about: 'shop.copy', found: 'refused' },
  { id: 'acl.cluster', status: 'warn', facts: refused('cluster'), about: 'kafka-cluster', found: 'refused' },
  {
    id: 'prefix.own',
    facts: { lineages: told([lineageWith({ record: { ...recordOf(), lineage: 'theirs' } })]) },
    about: 'shop.copy',
    found: 'offset 5 of orders-0 was committed by another deployment (lineage ours)',
  },
  {
    id: 'prefix.own',
    facts: { lineages: told([lineageWith({ record: null })]) },
    about: 'shop.copy',
    found: 'offset 5 of orders-0 was committed by a deployment whose fence record is not in this table',
  },
  {
    id: 'prefix.own',
    facts: { lineages: told([lineageWith({ committed: [committed('by hand')] })]) },
    about: 'shop.copy',
    found: 'offset 5 of orders-0 in group shop.copy was committed by something else',
  },
  {
    id: 'prefix.own',
    facts: { lineages: told([lineageWith({ committed: [committed(metadataOf('ours', 'shop.other.orders.0'))] })]) },
    about: 'shop.copy',
    found: 'offset 5 of orders-0 in group shop.copy was committed by something else',
  },
  {
    id: 'source.same',
    facts: { lineages: told([lineageWith({ record: { ...recordOf(), sourceTopicId: 'old' } })]) },
    about: 'orders',
    found: 'another one for 1 of 1 lanes: made anew?',
  },
  {
    id: 'source.same',
    facts: { lineages: told([lineageWith({ record: { ...recordOf(), clusterId: 'old' } })]) },
    about: 'orders',
    found: 'another one for 1 of 1 lanes: made anew?',
  },
  { id: 'topic.exists', facts: { topics: untold('no answer') }, about: 'topics', found: 'no answer' },
  {
    id: 'topic.pinned-partitions',
    facts: {
      lineages: told([lineageWith({ record: { ...recordOf(), outputPartitions: new Map([['orders.out', 3]]) } })]),
    },
    about: 'orders.out',
    found: '1 of 1',
  },
  {
    id: 'topic.pinned-partitions',
    facts: {
      lineages: told([
        lineageWith({ record: { ...recordOf(), outputPartitions: new Map([['orders.out', 3]]) } }),
        lineageWith(),
      ]),
    },
    about: 'orders.out',
    found: '1 of 1',
  },
  {
    id: 'source.transactions',
    facts: { producers: [{ relay: 'copy', topic: 'orders', transactional: told(2) }] },
    about: 'orders',
    found: '2 of late',
  },
  {
    id: 'table.exists',
    facts: { table: untold('ResourceNotFoundException') },
    about: 'table',
    found: 'ResourceNotFoundException',
  },
  {
    id: 'table.exists',
    facts: { table: told({ ...table, status: 'DELETING' }) },
    about: 'table',
    found: 'fences, DELETING',
  },
  {
    id: 'table.key',
    facts: { table: told({ ...table, key: 'id (S), at (N)' }) },
    about: 'table',
    found: 'id (S), at (N)',
  },
  {
    id: 'table.billing',
    status: 'warn',
    facts: { table: told({ ...table, billing: told('PROVISIONED') }) },
    about: 'table',
    found: 'PROVISIONED',
  },
  {
    id: 'table.recovery',
    status: 'warn',
    facts: { table: told({ ...table, restorable: told(false) }) },
    about: 'table',
    found: 'false',
  },
  {
    id: 'table.protection',
    status: 'warn',
    facts: { table: told({ ...table, deletionProtected: told(false) }) },
    about: 'table',
    found: 'false',
  },
  { id: 'bucket.exists', facts: { bucket: untold('NotFound') }, about: 'bucket', found: 'NotFound' },
  {
    id: 'bucket.versioning',
    status: 'warn',
    facts: { bucket: told({ name: 'snapshots', versioned: told(false) }) },
    about: 'bucket',
    found: 'false',
  },
  { id: 'mapping.retries', facts: mapping({ retriesMax: told(3) }), about: 'OrdersMapping', found: '3' },
  { id: 'mapping.record-age', facts: mapping({ recordAgeMaxSeconds: told(60) }), about: 'OrdersMapping', found: '60' },
  { id: 'mapping.destination', facts: mapping({ onFailure: told('arn:q') }), about: 'OrdersMapping', found: 'arn:q' },
  { id: 'mapping.mode', facts: mapping({ consumptionMode: told('Queue') }), about: 'OrdersMapping', found: 'Queue' },
  {
    id: 'mapping.schema-registry',
    facts: mapping({ schemaRegistry: told(true) }),
    about: 'OrdersMapping',
    found: 'true',
  },
  {
    id: 'mapping.filter',
    status: 'warn',
    facts: mapping({ filtered: told(true) }),
    about: 'OrdersMapping',
    found: 'true',
  },
  {
    id: 'mapping.bisect',
    status: 'warn',
    facts: mapping({ bisect: told(true) }),
    about: 'OrdersMapping',
    found: 'true',
  },
  {
    id: 'mapping.starting-position',
    status: 'warn',
    facts: mapping({ startingPosition: told('LATEST') }),
    about: 'OrdersMapping',
    found: 'LATEST',
  },
  {
    id: 'mapping.enabled',
    status: 'warn',
    facts: mapping({ enabled: told(false) }),
    about: 'OrdersMapping',
    found: 'false',
  },
  {
    id: 'mapping.function-timeout',
    facts: mapping({ functionTimeoutMs: told(minutes(14) + 1) }),
    about: 'OrdersMapping',
    found: '840001',
  },
  {
    id: 'mapping.topics',
    status: 'warn',
    facts: mapping({ topics: ['payments'] }),
    about: 'OrdersMapping',
    found: 'payments',
  },
  {
    id: 'mapping.consumer-group',
    facts: mapping({ consumerGroup: told('shop.copy') }),
    about: 'OrdersMapping',
    found: 'shop.copy',
  },
  {
    id: 'mapping.partial-failures',
    facts: mapping({ partialFailures: told(false) }),
    about: 'OrdersMapping',
    found: 'false, the function has true',
  },
  {
    id: 'mapping.partial-failures',
    status: 'warn',
    facts: mapping({ functionPartialFailures: told(false) }),
    about: 'OrdersMapping',
    found: 'true, the function has false',
  },
  {
    id: 'mapping.transaction-timeout',
    facts: { ...mapping({ functionTimeoutMs: told(minutes(10)) }), transactionTimeoutMs: minutes(10) },
    about: 'OrdersMapping',
    found: '600000 ms',
  },
  {
    id: 'mapping.transaction-timeout',
    facts: mapping({ functionTransactionTimeoutMs: told(minutes(5)) }),
    about: 'OrdersMapping',
    found: '300000 ms',
  },
]

function recordOf() {
  const { record } = lineageWith()
  if (record === null) throw new Error('the sound lane has a record')
  return record
}

function committed(metadata: string) {
  return { topic: 'orders', partition: 0, offset: 5n, leaderEpoch: -1, metadata }
}

test('where nothing is wrong every check is ok', () => {
  const report = judge(soundFacts)
  expect(report.checks.filter(({ status }) => status !== 'ok')).toEqual([])
  expect(report).toMatchObject({ ok: true, prefix: 'shop', relays: ['copy'], counts: { warn: 0, fail: 0, unknown: 0 } })
})

describe('each check sees its fault, and says what was found, what is wanted, and the fix', () => {
  test.each(faults)('$id: $found ($status)', ({ id, facts, status = 'fail', about, found }) => {
    const report = judge({ ...soundFacts, ...facts })
    const seen = report.checks.filter((check) => check.id === id && check.status === status && check.about === about)
    expect(seen).toMatchObject([{ found, wanted: expect.stringMatching(/./), fix: expect.stringMatching(/./) }])
    expect(report.ok).toBe(status !== 'fail')
  })

  test('none of those that can fail is without one of these', () => {
    const ids = new Set(judge(soundFacts).checks.map(({ id }) => id))
    ids.delete('broker.transactions') // tells, and is never wrong
    expect([...ids].sort()).toEqual([...new Set(faults.map(({ id }) => id))].sort())
  })

  test('each has its line in docs/operations/preflight.md', async () => {
    const page = await readFile(new URL('../../../docs/operations/preflight.md', import.meta.url), 'utf8')
    for (const { id } of judge(soundFacts).checks) expect(page).toContain(`\`${id}\``)
  })

  test('all are told at once', () => {
    const { checks } = judge({
      ...soundFacts,
      ...broker(brokerSettings.verification, 'false'),
      ...setting('orders.out', { 'min.insync.replicas': '1', 'unclean.leader.election.enable': 'true' }),
      ...refused('group'),
      ...mapping({ retriesMax: told(3), onFailure: told('arn:q') }),
      table: untold('AccessDeniedException'),
    })
    expect(checks.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual([
      'broker.verification',
      'topic.min-isr',
      'topic.unclean-election',
      'acl.group',
      'table.exists',
      'mapping.retries',
      'mapping.destination',
    ])
  })
})

describe('what nobody tells is unknown, never ok', () => {
  const hidden = untold('refused')
  test.each<readonly [what: string, facts: Partial<Facts>, ids: readonly string[]]>([
    [
      'settings of brokers',
      { cluster: told({ ...cluster, settings: new Map([1, 2, 3].map((id) => [id, hidden])) }) },
      ['broker.verification', 'broker.transaction-timeout', 'broker.offsets-retention', 'broker.id-expiration'],
    ],
    [
      'settings of a topic',
      topic('orders.out', stateWith({ settings: hidden })),
      ['topic.message-bytes', 'topic.min-isr', 'topic.unclean-election'],
    ],
    [
      "Kafka's own topics",
      { topics: told(topics.map((each) => (each.roles.has('internal') ? { ...each, state: hidden } : each))) },
      ['topic.copies', 'topic.copies'],
    ],
    ['fence records', { lineages: hidden }, ['prefix.own']],
    ['rights', { rights: hidden }, ['acl.all']],
    ['producers', { producers: [{ relay: 'copy', topic: 'orders', transactional: hidden }] }, ['source.transactions']],
    ['backups', { table: told({ ...table, restorable: hidden }) }, ['table.recovery']],
    [
      'what is computed in a template',
      mapping({ retriesMax: hidden, functionTimeoutMs: hidden }),
      ['mapping.retries', 'mapping.function-timeout', 'mapping.transaction-timeout'],
    ],
  ])('%s', (_, facts, ids) => {
    const report = judge({ ...soundFacts, ...facts })
    expect(report.checks.filter(({ status }) => status === 'unknown').map(({ id }) => id)).toEqual(ids)
    expect(report.ok).toBe(true)
  })

  test('a topic that may not be described is one that cannot be relayed', () => {
    const facts = { topics: told(topics.map((each) => (each.name === 'orders' ? { ...each, state: hidden } : each))) }
    expect(judge({ ...soundFacts, ...facts }).checks).toContainEqual(
      expect.objectContaining({ id: 'topic.exists', status: 'fail', about: 'orders' }),
    )
  })
})

test('without a cluster that is said once, and what is known beside it', () => {
  const silent = untold('no broker answered')
  const facts = { cluster: silent, topics: silent, rights: silent, lineages: silent, producers: [] }
  const { checks } = judge({ ...soundFacts, ...facts })
  expect(checks.filter(({ status }) => status !== 'ok').map(({ id }) => id)).toEqual(['broker.reached', 'prefix.own'])
  expect(checks.map(({ id }) => id)).toContain('table.exists')
})

describe('risks that were accepted are ok and say so', () => {
  test('weak topics, but not compacted dead letters', () => {
    const weak = stateWith({ copies: 1 }, { 'min.insync.replicas': '1', 'unclean.leader.election.enable': 'true' })
    const report = judge({ ...soundFacts, ...topic('orders.out', weak), weakTopicsAccepted: true })
    expect(report.ok).toBe(true)
    expect(report.checks.filter(({ found }) => found.endsWith('(accepted)'))).toHaveLength(3)
    const dead = setting('orders.dead', { 'cleanup.policy': 'compact' })
    expect(judge({ ...soundFacts, ...dead, weakTopicsAccepted: true }).ok).toBe(false)
  })

  test('stores of the local stack need not be restorable', () => {
    const facts = { table: told({ ...table, restorable: untold('no such request') }), localStores: true }
    expect(judge({ ...soundFacts, ...facts }).checks.filter(({ status }) => status !== 'ok')).toEqual([])
  })
})

test('brokers that agree are one line, those that do not are named', () => {
  const seen = judge({ ...soundFacts, ...broker(brokerSettings.verification, 'false') }).checks.filter(
    ({ id }) => id === 'broker.verification',
  )
  expect(seen.map(({ about, status }) => [about, status])).toEqual([
    ['broker 1, 3', 'ok'],
    ['broker 2', 'fail'],
  ])
})
