import { type Clock, deadlineIn, type Random } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import type { KafkaNode } from '../kafka-node.ts'
import { pause } from './fault.ts'

export interface BrokersParts {
  readonly nodes: readonly KafkaNode[]
  /** A client past the proxies. */
  readonly cluster: Cluster
  readonly topics: readonly string[]
  readonly random: Random
}

const internalTopics = ['__consumer_offsets', '__transaction_state']
const askMs = 5_000
const inSyncMs = 90_000
const lookEveryMs = 250

/** The brokers as faults see them: struck in turn, and left alone again only when all copies are in sync. */
export class Brokers {
  readonly clock: Clock
  readonly random: Random
  readonly #its: BrokersParts
  #turn = 0

  constructor(parts: BrokersParts) {
    this.#its = parts
    this.clock = parts.cluster.clock
    this.random = parts.random
  }

  nextInTurn(): KafkaNode {
    const { nodes } = this.#its
    const node = nodes[this.#turn++ % nodes.length]
    if (node === undefined) throw new RangeError('there are no brokers of our own')
    return node
  }

  /** Partitions that this broker leads, coordinators' partitions included, as the others know it. */
  async ledBy(id: number): Promise<ReadonlySet<string>> {
    const led = (await this.#partitions()).filter(({ leader }) => leader === id)
    return new Set(led.map(({ name }) => name))
  }

  /** Resolves when every partition has all of its copies in sync, in time or not. Answers whether they are. */
  async untilInSync(signal: AbortSignal): Promise<boolean> {
    const deadline = deadlineIn(this.clock, inSyncMs)
    while (deadline.remainingMs() > 0 && !signal.aborted) {
      const partitions = await this.#partitions().catch(() => [])
      if (partitions.length > 0 && partitions.every(({ inSync }) => inSync === this.#its.nodes.length)) return true
      await pause(this.clock, lookEveryMs, signal)
    }
    return false
  }

  async #partitions() {
    const names = [...this.#its.topics, ...internalTopics]
    const topics = await this.#its.cluster.topics(names, deadlineIn(this.clock, askMs), 'fresh')
    return [...topics.values()].flatMap(({ name, partitions }) =>
      partitions.map(({ partition, leader, inSyncReplicas }) => {
        return { name: `${name}-${partition}`, leader: leader?.nodeId ?? null, inSync: inSyncReplicas.length }
      }),
    )
  }
}
