import { deadlineIn } from '../clock.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { fetchCommitted } from '../kafka/offsets.ts'

export interface PositionPlace {
  /** The commit group. */
  readonly group: string
  readonly topic: string
  readonly partitions: number
}

const lookEveryMs = 200
const lookTimeoutMs = 20_000

/** How far a relay has come: the offsets that it has committed with its outputs. */
export class CommittedPosition {
  readonly #cluster: Cluster
  readonly #place: PositionPlace
  #relayed = 0

  constructor(cluster: Cluster, place: PositionPlace) {
    this.#cluster = cluster
    this.#place = place
  }

  /** Source offsets below the committed ones: as many records, if no producer of the source uses transactions. */
  get relayed(): number {
    return this.#relayed
  }

  /** Until aborted. @throws RelayError when the offsets cannot be read for 20 s */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look()
      await this.#cluster.clock.sleep(lookEveryMs, signal).catch(() => undefined)
    }
  }

  async look(): Promise<void> {
    const { group, topic, partitions: count } = this.#place
    const partitions = Array.from({ length: count }, (_, partition) => ({ topic, partition }))
    const question = { group, partitions, requireStable: false }
    const answers = await fetchCommitted(this.#cluster, question, deadlineIn(this.#cluster.clock, lookTimeoutMs))
    const offsets = answers.map((answer) => ('offset' in answer ? Number(answer.offset ?? 0n) : 0))
    this.#relayed = offsets.reduce((sum, offset) => sum + offset, 0)
  }
}
