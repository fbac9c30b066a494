/** Facts of a deployment with which nothing is wrong, for tests to put one thing wrong at a time. */
import { bytes, defineRelay, topic } from '../../lib/index.ts'
import { kafkaAcls } from '../../lib/preflight/acls.ts'
import type { Facts, LaneLineage, MappingFacts, TopicFacts, TopicState } from '../../lib/preflight/facts/facts.ts'
import { brokerSettings } from '../../lib/preflight/facts/read-cluster.ts'
import { told } from '../../lib/preflight/finding.ts'
import { formatCommitMetadata } from '../../lib/relay/commit-metadata.ts'
import type { CompiledRelay } from '../../lib/relay/compiled-relay.ts'
import { laneOf } from '../../lib/relay/lane-id.ts'
import { days, minutes } from '../../lib/units.ts'
import { freeRecord } from './fences.ts'

export const copy: CompiledRelay = defineRelay({
  name: 'copy',
  source: topic('orders', bytes()),
  outputs: { out: topic('orders.out', bytes()) },
  deadLetters: topic('orders.dead'),
  transform: () => undefined,
})

export const prefix = 'shop'
const lane = laneOf(0, 1, { prefix, relay: copy.name, topic: 'orders', partitionsPerLane: 1 })

export const soundSettings: Readonly<Record<string, string>> = {
  'min.insync.replicas': '2',
  'unclean.leader.election.enable': 'false',
  'cleanup.policy': 'delete',
  'max.message.bytes': '1048588',
  'retention.ms': String(days(7)),
  'retention.bytes': '-1',
}

export const soundBroker: Readonly<Record<string, string>> = {
  [brokerSettings.transactionTimeoutMax]: String(minutes(15)),
  [brokerSettings.offsetsRetention]: '10080',
  [brokerSettings.idExpiration]: String(days(7)),
  [brokerSettings.verification]: 'true',
  [brokerSettings.offsetsCopies]: '3',
  [brokerSettings.transactionsCopies]: '3',
}

export const stateWith = (
  state: Partial<TopicState> = {},
  settings: Readonly<Record<string, string>> = {},
): TopicState => ({
  topicId: 'id',
  partitions: 1,
  leaderless: [],
  copies: 3,
  settings: told(new Map(Object.entries({ ...soundSettings, ...settings }))),
  ...state,
})

const soundTopic = (name: string, role: 'source' | 'output' | 'dead letters' | 'internal'): TopicFacts => ({
  name,
  roles: new Set([role]),
  state: told(stateWith()),
})

export const metadataOf = (lineage: string, id = lane.transactionalId): string =>
  formatCommitMetadata({ lineage, id, topicId: 'id', clusterId: 'cluster', token: 1, from: 0n })

export const lineageWith = (change: Partial<LaneLineage> = {}): LaneLineage => ({
  id: lane,
  committed: [{ topic: 'orders', partition: 0, offset: 5n, leaderEpoch: -1, metadata: metadataOf('ours') }],
  record: freeRecord({
    id: lane.transactionalId,
    lineage: 'ours',
    sourceTopicId: 'id',
    clusterId: 'cluster',
    outputPartitions: new Map([['orders.out', 1]]),
  }),
  ...change,
})

export const soundMapping: MappingFacts = {
  name: 'OrdersMapping',
  topics: ['orders'],
  consumerGroup: told('shop.copy.bell'),
  retriesMax: told(-1),
  recordAgeMaxSeconds: told(-1),
  bisect: told(false),
  onFailure: told(null),
  partialFailures: told(true),
  consumptionMode: told('Stream'),
  schemaRegistry: told(false),
  filtered: told(false),
  startingPosition: told('TRIM_HORIZON'),
  enabled: told(true),
  functionTimeoutMs: told(minutes(5)),
  functionPartialFailures: told(true),
  functionTransactionTimeoutMs: told(null),
}

export const soundFacts: Facts = {
  relays: [copy],
  prefix,
  transactionTimeoutMs: minutes(15),
  sweepEveryMs: minutes(15),
  weakTopicsAccepted: false,
  localStores: false,
  cluster: told({
    clusterId: 'cluster',
    brokers: [1, 2, 3].map((nodeId) => ({ nodeId, host: 'b', port: 9090 + nodeId })),
    features: new Map([
      ['metadata.version', 27],
      ['transaction.version', 2],
    ]),
    highestVersions: new Map([[1, 17]]),
    settings: new Map([1, 2, 3].map((id) => [id, told(new Map(Object.entries(soundBroker)))])),
  }),
  topics: told([
    soundTopic('orders', 'source'),
    soundTopic('orders.out', 'output'),
    soundTopic('orders.dead', 'dead letters'),
    soundTopic('__transaction_state', 'internal'),
    soundTopic('__consumer_offsets', 'internal'),
  ]),
  rights: told(kafkaAcls(copy, prefix).map((acl) => ({ relay: copy.name, acl, granted: told(true) }))),
  lineages: told([lineageWith()]),
  producers: [{ relay: 'copy', topic: 'orders', transactional: told(0) }],
  table: told({
    name: 'fences',
    key: 'id (S)',
    status: 'ACTIVE',
    billing: told('PAY_PER_REQUEST'),
    restorable: told(true),
    deletionProtected: told(true),
  }),
  bucket: told({ name: 'snapshots', versioned: told(true) }),
  mappings: [soundMapping],
}
