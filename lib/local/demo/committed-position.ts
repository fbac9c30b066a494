import { deadlineIn } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { fetchCommitted } from '../../kafka/offsets.ts'
import { commitGroup } from '../../transaction/ids.ts'
import { prefix, relay } from './relay-deployment.ts'

const lookEveryMs = 200
const lookTimeoutMs = 20_000

/** How far the relay has come: the offsets that it has committed with its outputs. */
export class CommittedPosition {
  readonly #cluster: Cluster
  readonly #partitions: number
  #relayed = 0

  constructor(cluster: Cluster, partitions: number) {
    this.#cluster = cluster
    this.#partitions = partitions
  }

  /** Source records below the committed offsets; the source has no gaps, since its producer uses no transactions. */
  get relayed(): number {
    return this.#relayed
  }

  async run(signal: AbortSignal): Promise<void> {
    const partitions = Array.from({ length: this.#partitions }, (_, partition) => ({
      topic: relay.sourceTopic,
      partition,
    }))
    const question = { group: commitGroup(prefix, relay.name), partitions, requireStable: false }
    while (!signal.aborted) {
      const answers = await fetchCommitted(this.#cluster, question, deadlineIn(this.#cluster.clock, lookTimeoutMs))
      const offsets = answers.map((answer) => ('offset' in answer ? Number(answer.offset ?? 0n) : 0))
      this.#relayed = offsets.reduce((sum, offset) => sum + offset, 0)
      await this.#cluster.clock.sleep(lookEveryMs, signal).catch(() => undefined)
    }
  }
}
