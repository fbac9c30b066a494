import type { RequestOf, ResponseOf } from '../../lib/kafka/protocol/generated/index.ts'
import type { Exchange } from '../../lib/testing/broker-model/model-transport.ts'
import type { Transaction } from '../../lib/testing/broker-model/transaction-state.ts'
import { group, laneIds, lanePartitions, topics } from './sim-relay.ts'
import type { World } from './world.ts'

const unstable = 88
const pollMs = 5

/**
 * Where a copy that was left in the network does its worst: in the next transaction of its transactional id (P3).
 *
 * One place is spared. On Kafka 3.x a late offset commit that arrives between the session's last look at its pending offsets
 * and the marker drops them, and if the process dies then, nothing can tell (docs/adr/pending-offsets-on-kafka-3.md).
 */
export class LateRequests {
  private readonly world: World
  /** By transactional id: the transaction whose offsets were seen pending. */
  private readonly lookedAt = new Map<string, string>()

  constructor(world: World) {
    this.world = world
  }

  /** Resolves when a newer transaction of the id is open, at the latest after `msMax`. */
  async untilNextTransaction(exchange: Exchange, msMax: number): Promise<void> {
    const { clock } = this.world
    const id = transactionalIdOf(exchange)
    const sentIn = this.nameOf(id)
    for (const untilMs = clock.now() + msMax; clock.now() < untilMs; await clock.sleep(pollMs)) {
      const current = id === null ? undefined : this.world.model.transactions.find(id)
      if (current?.state === 'Ongoing' && nameOf(current) !== sentIn) return
    }
  }

  /** Resolves when the request may arrive. */
  async spare({ api, body }: Exchange): Promise<void> {
    if (api !== 'TxnOffsetCommit' || this.world.plan.protocol === 2) return
    const { transactionalId: id, producerEpoch } = body as RequestOf<'TxnOffsetCommit'>
    const isStale = () => producerEpoch < (this.world.model.transactions.find(id)?.producerEpoch ?? -1)
    while (isStale() && this.isBetweenLookAndMarker(id)) await this.world.clock.sleep(pollMs)
  }

  /** A session has looked whether its offsets are still pending. */
  answered({ api }: Exchange, response: unknown): void {
    if (api !== 'OffsetFetch' || this.world.plan.protocol === 2) return
    const { groups } = response as ResponseOf<'OffsetFetch'>
    const partitions = groups.flatMap((one) => one.topics.flatMap((topic) => topic.partitions))
    const pending = partitions.filter(({ errorCode }) => errorCode === unstable)
    for (const id of laneIds(this.world.plan.lanes)) {
      const lane = lanePartitions(id, this.world.plan.lanes)
      if (pending.some(({ partitionIndex }) => lane.includes(partitionIndex))) this.lookedAt.set(id, this.nameOf(id))
    }
  }

  private isBetweenLookAndMarker(id: string): boolean {
    const { model, plan } = this.world
    if (this.lookedAt.get(id) !== this.nameOf(id)) return false
    const coordinator = model.groupCoordinator(model.groupPartition(group).partition)
    return lanePartitions(id, plan.lanes).some((partition) => {
      return coordinator.fetch(group, { topic: topics.source, partition }, true).code === unstable
    })
  }

  private nameOf(id: string | null): string {
    const current = id === null ? undefined : this.world.model.transactions.find(id)
    return current === undefined ? '' : nameOf(current)
  }
}

/** Tells one transaction of an id from the next. */
const nameOf = ({ producerId, producerEpoch, startedAtMs }: Transaction): string =>
  `${producerId} ${producerEpoch} ${startedAtMs}`

function transactionalIdOf({ body }: Exchange): string | null {
  if ('transactionalId' in body) return body.transactionalId
  return 'v3AndBelowTransactionalId' in body ? body.v3AndBelowTransactionalId : null
}
