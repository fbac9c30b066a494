import type { Deadline } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { kafkaErrorName } from '../../kafka/errors.ts'
import type { NodeAddress } from '../../kafka/transport.ts'
import { type Told, told, untold } from '../finding.ts'
import type { ClusterFacts } from './facts.ts'

const brokerResource = 4

/** Settings of brokers that checks look at. */
export const brokerSettings = {
  transactionTimeoutMax: 'transaction.max.timeout.ms',
  offsetsRetention: 'offsets.retention.minutes',
  idExpiration: 'transactional.id.expiration.ms',
  verification: 'transaction.partition.verification.enable',
  offsetsCopies: 'offsets.topic.replication.factor',
  transactionsCopies: 'transaction.state.log.replication.factor',
} as const

/** Brokers refuse an empty name or version. */
const client = { clientSoftwareName: 'fencepost', clientSoftwareVersion: '1' }

/** @throws RelayError BROKER_UNAVAILABLE, AUTHENTICATION_FAILED, BROKER_TOO_OLD, BROKER_ERROR */
export async function readCluster(cluster: Cluster, deadline: Deadline): Promise<ClusterFacts> {
  const clusterId = await cluster.clusterId(deadline)
  const brokers = await cluster.brokers(deadline)
  const { body } = await cluster.request({ to: 'any' }, 'ApiVersions', client, deadline)
  if (body.errorCode !== 0) {
    throw new RelayError('BROKER_ERROR', `ApiVersions was answered ${kafkaErrorName(body.errorCode)}`)
  }
  const settings = await Promise.all(
    brokers.map(async (broker) => [broker.nodeId, await settingsOf(cluster, broker, deadline)] as const),
  )
  return {
    clusterId,
    brokers,
    features: new Map(body.finalizedFeatures.map(({ name, maxVersionLevel }) => [name, maxVersionLevel])),
    highestVersions: new Map(body.apiKeys.map(({ apiKey, maxVersion }) => [apiKey, maxVersion])),
    settings: new Map(settings),
  }
}

async function settingsOf(
  cluster: Cluster,
  node: NodeAddress,
  deadline: Deadline,
): Promise<Told<ReadonlyMap<string, string>>> {
  const configurationKeys = Object.values(brokerSettings)
  const resource = { resourceType: brokerResource, resourceName: String(node.nodeId), configurationKeys }
  try {
    const { body } = await cluster.request({ to: 'node', node }, 'DescribeConfigs', { resources: [resource] }, deadline)
    const [result] = body.results
    if (result?.errorCode !== 0)
      return untold(`DescribeConfigs was answered ${kafkaErrorName(result?.errorCode ?? -1)}`)
    return told(new Map(result.configs.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]))))
  } catch (error) {
    return untold(error instanceof Error ? error.message : String(error))
  }
}
