import { deadlineIn } from '../../lib/clock.ts'
import type { Answer, Cluster, PartitionMetadata, Target, TopicMetadata } from '../../lib/kafka/cluster.ts'
import type { Api, RequestOf, ResponseOf } from '../../lib/kafka/protocol/generated/index.ts'
import type { NodeAddress } from '../../lib/kafka/transport.ts'
import { VirtualClock } from '../../lib/testing/virtual-clock.ts'

export interface Asked {
  readonly api: Api
  readonly target: Target
  readonly body: unknown
}

/** What a test's broker answers; whatever it throws is thrown at the asker. `count`: requests of this api so far. */
export type Script = {
  readonly [A in Api]?: (body: RequestOf<A>, node: number | string, count: number) => ResponseOf<A>
}

export const node = (nodeId: number): NodeAddress => ({ nodeId, host: `broker-${nodeId}`, port: 9092 })

/** Leaders by partition; null: none. */
export function topic(
  name: string,
  topicId: string,
  leaders: readonly (number | null)[],
  leaderEpoch = 0,
): TopicMetadata {
  const partitions = leaders.map((leader, partition): PartitionMetadata => {
    const replicas = leader === null ? [1, 2] : [leader]
    return { partition, leader: leader === null ? null : node(leader), leaderEpoch, replicas, inSyncReplicas: replicas }
  })
  return { name, topicId, partitions }
}

/** A cluster whose metadata (one list per look, the last one for ever) and answers are written by the test. */
export class ScriptedCluster implements Cluster {
  readonly clock = new VirtualClock()
  readonly asked: Asked[] = []
  readonly forgotten: Target[] = []
  freshLooks = 0
  private readonly script: Script
  private readonly looks: readonly (readonly TopicMetadata[])[]

  constructor(script: Script, ...looks: readonly (readonly TopicMetadata[])[]) {
    this.script = script
    this.looks = looks
  }

  /** Runs to its end whatever sleeps on this cluster's clock. */
  run<T>(work: (deadline: ReturnType<typeof deadlineIn>) => Promise<T>, deadlineMs = 60_000): Promise<T> {
    return this.clock.run(work(deadlineIn(this.clock, deadlineMs)))
  }

  async topics(names: readonly string[], _: unknown, fresh?: 'fresh'): Promise<ReadonlyMap<string, TopicMetadata>> {
    if (fresh) this.freshLooks++
    const look = this.looks[Math.min(this.freshLooks, this.looks.length - 1)] ?? []
    return new Map(look.filter(({ name }) => names.includes(name)).map((each) => [each.name, each]))
  }

  async request<A extends Api>(target: Target, api: A, body: RequestOf<A>): Promise<Answer<A>> {
    const count = this.asked.filter((asked) => asked.api === api).length
    this.asked.push({ api, target, body })
    const answer = this.script[api]
    if (answer === undefined) throw new Error(`the script does not answer ${api}`)
    const at = target.to === 'node' ? target.node.nodeId : target.to
    return { body: answer(body, at, count), node: node(typeof at === 'number' ? at : 1), version: 0 }
  }

  async brokers(): Promise<readonly NodeAddress[]> {
    return [1, 2, 3].map(node)
  }

  forget(target: Target): void {
    this.forgotten.push(target)
  }

  async clusterId(): Promise<string> {
    return 'scripted'
  }

  async transactionVersion(): Promise<2> {
    return 2
  }

  async locate(target: Target): Promise<NodeAddress> {
    return target.to === 'node' ? target.node : node(1)
  }

  async close(): Promise<void> {}
}
