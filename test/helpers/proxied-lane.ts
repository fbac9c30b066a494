import { onTestFinished } from 'vitest'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { clusterThrough, proxyBefore } from './kafka-proxy.ts'
import { laneOn, openReady, window } from './sessions.ts'
import { createTopic, type TopicOptions } from './topics.ts'

/** What takes a rule out, between the engine and its connections. */
export type Broken = (cluster: Cluster) => Cluster
export const asItIs: Broken = (cluster) => cluster

/** A client behind a proxy, up to the end of the test that asks. */
export async function throughProxy(brokers: readonly string[], broken = asItIs) {
  const proxy = await proxyBefore(brokers)
  const cluster = clusterThrough(brokers, proxy)
  onTestFinished(() => cluster.close())
  return { proxy, cluster: broken(cluster) }
}

/** A lane behind a proxy that has relayed one window to a topic of this name, and its session. */
export async function proxiedLane(
  brokers: readonly string[],
  name: string,
  { broken = asItIs, ...options }: TopicOptions & { readonly broken?: Broken } = {},
) {
  const { proxy, cluster } = await throughProxy(brokers, broken)
  const topic = await createTopic(brokers, name, options)
  const lane = laneOn(topic)
  const session = await openReady(cluster, lane)
  await window(session, lane, topic, ['one'], 1)
  return { proxy, cluster, topic, lane, session }
}
