import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { Transport } from '../../lib/kafka/transport.ts'
import { ClusterModel } from '../../lib/testing/broker-model/cluster-model.ts'
import type { GroupCoordinator } from '../../lib/testing/broker-model/group-coordinator.ts'
import { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import { SimEffects } from './brokers.ts'
import type { Ring } from './container.ts'
import { Dice } from './dice.ts'
import { FenceTable, type FenceWeather } from './fence-table.ts'
import { SimFunctions } from './functions.ts'
import { Journal } from './journal.ts'
import { Judge } from './judge.ts'
import { LateRequests } from './late-requests.ts'
import type { Plan } from './plan.ts'
import type { Script } from './script.ts'
import { topics } from './sim-relay.ts'

/** What breaks a relay on purpose, at the seams between engine and world: a control that the judge must catch. */
export interface Sabotage {
  transport?(transport: Transport, world: World): Transport
  cluster?(cluster: Cluster, world: World): Cluster
  fences?(store: FenceStore, world: World): FenceStore
  ring?(ring: Ring): Ring
}

/** Everything around the engine: brokers, table, functions, time and chance, made from one plan. */
export class World {
  readonly plan: Plan
  readonly sabotage: Sabotage
  readonly dice: Dice
  readonly clock = new VirtualClock()
  readonly weather: FenceWeather = { isRough: true, fencesOut: false }
  script: Script = {}
  readonly journal: Journal
  readonly model: ClusterModel
  readonly fences = new FenceTable()
  readonly judge: Judge
  readonly lateRequests: LateRequests
  /** Of the source as it was at first. */
  readonly sourceId: string
  readonly functions: SimFunctions

  constructor(plan: Plan, sabotage: Sabotage, isKept: boolean) {
    this.plan = plan
    this.sabotage = sabotage
    this.dice = new Dice(plan.seed)
    this.journal = new Journal(this.clock, isKept)
    this.model = new ClusterModel({
      clock: this.clock,
      random: this.dice.fork('model').random,
      nodes: plan.nodes,
      transactionVersion: plan.protocol,
      effects: new SimEffects(plan.brokers, this.dice.fork('effects'), this),
    })
    const { sourcePartitions, outputPartitions } = plan.lanes
    const source = this.model.createTopic({ name: topics.source, partitions: sourcePartitions })
    for (const name of [topics.out, topics.audit, topics.dead]) {
      this.model.createTopic({ name, partitions: outputPartitions, configs: { 'retention.ms': '-1' } })
    }
    this.sourceId = source.id
    this.judge = new Judge(this, source)
    this.functions = new SimFunctions(this)
    this.lateRequests = new LateRequests(this)
    this.countTimedOut()
    this.countDropped()
  }

  private countTimedOut(): void {
    const { transactions } = this.model
    const abort = transactions.abortTimedOut.bind(transactions)
    transactions.abortTimedOut = () => {
      const open = transactions.all().filter(({ state }) => state === 'Ongoing')
      abort()
      for (const { transactionalId } of open) {
        if (transactions.find(transactionalId)?.state === 'PrepareAbort') {
          this.journal.fault('transaction-timed-out', transactionalId)
        }
      }
    }
  }

  private countDropped(): void {
    for (let partition = 0; partition < this.model.config.coordinatorPartitions; partition++) {
      watchOffsets(this.model.groupCoordinator(partition), () => {
        this.journal.fault('offsets-dropped', `group partition ${partition}`)
        this.judge.expectedStops.add('OFFSETS_LOST')
      })
    }
  }
}

/**
 * Tells when a coordinator of Kafka 3.x drops offsets that it has acknowledged: for a request of a fenced session, or with the
 * marker of an older transaction of the same producer that it gets to late. What a lane ends with when it cannot put them
 * back is a stop by name (docs/adr/pending-offsets-on-kafka-3.md).
 */
function watchOffsets(coordinator: GroupCoordinator, onDrop: () => void): void {
  const noted = new Map<bigint, number>()
  const { dropNoted, commitPending, endTransaction } = coordinator
  coordinator.dropNoted = (...args) => {
    onDrop()
    dropNoted.apply(coordinator, args)
  }
  coordinator.commitPending = (group, owner, ...args) => {
    noted.set(owner.producerId, (noted.get(owner.producerId) ?? 0) + 1)
    return commitPending.call(coordinator, group, owner, ...args)
  }
  coordinator.endTransaction = (marker, nowMs, settle) => {
    const before = noted.get(marker.producerId)
    return endTransaction.call(coordinator, marker, nowMs, (run) =>
      settle(() => {
        if (noted.get(marker.producerId) !== before) onDrop()
        run()
      }),
    )
  }
}
