import type { Deadline } from '../clock.ts'
import type { Cluster } from './cluster.ts'

const topicResource = 2

/**
 * Some settings of some topics: topic -> setting -> value. Topics that the broker will not describe to us (no
 * DescribeConfigs permission, or just deleted) are absent: settings inform, they decide nothing.
 * @throws TransportError when no broker answers
 */
export async function describeTopicConfigs(
  cluster: Cluster,
  topics: readonly string[],
  settings: readonly string[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const resources = topics.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: settings,
  }))
  const { body } = await cluster.request({ to: 'any' }, 'DescribeConfigs', { resources }, deadline)
  const described = body.results.filter((result) => result.errorCode === 0)
  return new Map(
    described.map(({ resourceName, configs }) => [
      resourceName,
      new Map(configs.map(({ name, value }) => [name, value ?? ''])),
    ]),
  )
}
