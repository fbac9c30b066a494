import type { Clock } from '../clock.ts'
import type { Cluster } from './cluster.ts'
import { type TopicPartition, tpKey } from './record.ts'

/** A replica's node id, or the leader although it proposed a replica. */
export type ReadFrom = number | 'leader'

/** As long as metadata is believed; then the leader is asked again which replica is nearest. */
const believedMs = 60_000
const perCluster = new WeakMap<Cluster, ReadReplicas>()

/**
 * Where leaders sent a reader with a rack (KIP-392), so that not every window asks the leader first. Lives as long as
 * the cluster's connections do.
 */
export class ReadReplicas {
  private readonly clock: Clock
  private readonly chosen = new Map<string, { readonly from: ReadFrom; readonly untilMs: number }>()

  static of(cluster: Cluster): ReadReplicas {
    const known = perCluster.get(cluster) ?? new ReadReplicas(cluster.clock)
    perCluster.set(cluster, known)
    return known
  }

  private constructor(clock: Clock) {
    this.clock = clock
  }

  get(place: TopicPartition): ReadFrom | undefined {
    const known = this.chosen.get(tpKey(place))
    return known !== undefined && this.clock.now() < known.untilMs ? known.from : undefined
  }

  set(place: TopicPartition, from: ReadFrom): void {
    this.chosen.set(tpKey(place), { from, untilMs: this.clock.now() + believedMs })
  }
}
