import type { Effect, EffectScheduler } from '../../lib/testing/broker-model/effects.ts'
import { offsetsTopic, transactionsTopic } from '../../lib/testing/broker-model/topics.ts'
import type { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import type { Dice } from './dice.ts'
import type { Journal } from './journal.ts'
import type { Weather } from './network.ts'
import type { BrokersPlan } from './plan.ts'
import { topics } from './sim-relay.ts'
import type { World } from './world.ts'

/** When brokers get to their own work: each marker on its own, so that readers and offsets see a commit at different times. */
export class SimEffects implements EffectScheduler {
  private readonly lastDueMs = new Map<string, number>()
  private readonly plan: BrokersPlan
  private readonly dice: Dice
  private readonly surroundings: { clock: VirtualClock; journal: Journal; weather: Weather }

  constructor(
    plan: BrokersPlan,
    dice: Dice,
    surroundings: { clock: VirtualClock; journal: Journal; weather: Weather },
  ) {
    this.plan = plan
    this.dice = dice
    this.surroundings = surroundings
  }

  schedule(effect: Effect, run: () => void): void {
    const { clock, journal, weather } = this.surroundings
    const isSlow = weather.isRough && this.dice.chance(this.plan.slowMarker)
    const ms = this.dice.between(0, isSlow ? this.plan.slowMarkerMsMax : this.plan.markerMsMax)
    const kind = effect.kind === 'offsets' ? 'offsets-seen-late' : 'marker-delayed'
    const who = effect.kind === 'offsets' ? `group partition ${effect.partition.partition}` : effect.transactionalId
    if (isSlow) journal.fault(kind, who, `${effect.kind} ${ms} ms`)
    void clock.sleep(effect.kind === 'offsets' ? this.inOrder(ms, who) : ms).then(run)
  }

  /** One task after the other for each partition, as Kafka's scheduler does them. */
  private inOrder(ms: number, who: string): number {
    const nowMs = this.surroundings.clock.now()
    const dueMs = Math.max(nowMs + ms, this.lastDueMs.get(who) ?? 0)
    this.lastDueMs.set(who, dueMs)
    return dueMs - nowMs
  }
}

/** Brokers that die, stand still, and hand their partitions and coordinators to each other: one trouble at a time. */
export class SimBrokers {
  private readonly world: World
  private readonly dice: Dice

  constructor(world: World) {
    this.world = world
    this.dice = world.dice.fork('brokers')
  }

  async strike(untilMs: number): Promise<void> {
    const { clock, plan } = this.world
    const { strikeEveryMs } = plan.brokers
    if (strikeEveryMs === 0) return
    const strikes = [() => this.restart(), () => this.pause()]
    if (plan.nodes > 1)
      strikes.push(
        () => this.move(),
        () => this.replace(),
        () => this.moveUnseen(),
      )
    for (;;) {
      await clock.sleep(this.dice.between(1, 2 * strikeEveryMs))
      if (clock.now() >= untilMs) return
      await this.dice.pick(strikes)()
    }
  }

  private node(): number {
    return this.dice.between(1, this.world.plan.nodes)
  }

  private async restart(): Promise<void> {
    const { model, journal } = this.world
    const node = this.node()
    journal.fault('broker-restarted', 'brokers', `${node}`)
    model.stopNode(node)
    await this.aWhile(3_000)
    model.startNode(node)
  }

  private async pause(): Promise<void> {
    const { model, journal } = this.world
    const node = this.node()
    journal.fault('broker-paused', 'brokers', `${node}`)
    model.pauseNode(node)
    await this.aWhile(7_000)
    model.resumeNode(node)
  }

  /** P1: paused, replaced, and back again without having heard of it. */
  private async replace(): Promise<void> {
    const { model, journal } = this.world
    const node = this.node()
    journal.fault('stale-coordinator', 'brokers', `${node} paused`)
    model.pauseNode(node, 'replaced')
    await this.aWhile(4_000)
    model.resumeNode(node)
    await this.aWhile(2_000)
    model.catchUp(node)
  }

  private async move(): Promise<void> {
    const { model, journal } = this.world
    const place = this.place()
    const node = this.node()
    journal.fault('coordinator-moved', 'brokers', `${place.topic}-${place.partition} to ${node}`)
    model.moveLeader(place, node)
  }

  /** The old leader is cut off from its cluster, not from its clients. */
  private async moveUnseen(): Promise<void> {
    const { model, journal } = this.world
    const place = this.place()
    const old = model.topics.partition(place.topic, place.partition)?.leader
    const node = this.node()
    if (old === null || old === undefined || old === node) return
    journal.fault('stale-coordinator', 'brokers', `${place.topic}-${place.partition} from ${old} to ${node}`)
    model.moveLeader(place, node, 'stale')
    await this.aWhile(3_000)
    model.catchUp(old)
  }

  private place() {
    const { model } = this.world
    const names = [offsetsTopic, offsetsTopic, transactionsTopic, topics.source, topics.out]
    const topic = this.dice.pick(names.filter((name) => model.topics.find(name) !== undefined))
    const partitions = model.topics.find(topic)?.partitions.length ?? 0
    return { topic, partition: this.dice.between(0, partitions - 1) }
  }

  private aWhile(msMax: number): Promise<void> {
    return this.world.clock.sleep(this.dice.between(10, msMax))
  }
}
