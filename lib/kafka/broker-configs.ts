import type { Deadline } from '../clock.ts'
import type { Cluster } from './cluster.ts'
import type { NodeAddress } from './transport.ts'

const brokerResource = 4

/**
 * Some settings of one broker, as far as it tells: a broker that does not answer, or does not let this user ask, tells
 * none. Settings inform, they decide nothing.
 */
export async function describeBrokerConfigs(
  cluster: Cluster,
  node: NodeAddress,
  settings: readonly string[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, string>> {
  const resource = { resourceType: brokerResource, resourceName: String(node.nodeId), configurationKeys: settings }
  try {
    const { body } = await cluster.request({ to: 'node', node }, 'DescribeConfigs', { resources: [resource] }, deadline)
    return new Map(body.results.flatMap(({ configs }) => configs).map(({ name, value }) => [name, value ?? '']))
  } catch {
    return new Map()
  }
}
