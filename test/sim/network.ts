import type { Exchange, Fate, Faults } from '../../lib/testing/broker-model/model-transport.ts'
import type { Dice } from './dice.ts'
import type { FaultKind } from './journal.ts'
import type { NetworkPlan } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { World } from './world.ts'

/** When faults may strike: off while a run is drained. */
export interface Weather {
  isRough: boolean
}

/** The network between one process and the brokers. */
export class SimNetwork implements Faults {
  private readonly plan: NetworkPlan
  private readonly dice: Dice
  private readonly world: World
  private readonly process: SimProcess

  constructor(world: World, dice: Dice, process: SimProcess) {
    this.plan = world.plan.network
    this.dice = dice
    this.world = world
    this.process = process
  }

  async beforeRequest(exchange: Exchange): Promise<Fate> {
    const { plan, dice } = this
    const scripted = (await this.world.script.request?.(this.process, exchange)) ?? 'pass'
    if (scripted !== 'pass' || !this.world.weather.isRough) return scripted
    await this.travel(exchange, dice)
    if (this.process.isDead && dice.chance(0.5)) return 'lose'
    if (dice.chance(plan.cutBefore)) return this.fate('request-cut', exchange, 'cut')
    if (dice.chance(plan.loseRequest)) return this.fate('request-lost', exchange, 'lose')
    if (dice.chance(plan.late)) return this.fate('request-late', exchange, { late: this.late(exchange) })
    await this.world.lateRequests.spare(exchange)
    return 'pass'
  }

  async afterEffect(exchange: Exchange, response: unknown): Promise<Exclude<Fate, object>> {
    const { plan, dice } = this
    this.world.lateRequests.answered(exchange, response)
    const scripted = (await this.world.script.answer?.(this.process, exchange)) ?? 'pass'
    if (scripted !== 'pass' || !this.world.weather.isRough) return scripted
    if (dice.chance(plan.cutAfter)) return this.fate('answer-cut', exchange, 'cut')
    if (dice.chance(plan.loseAnswer)) return this.fate('answer-lost', exchange, 'lose')
    await this.travel(exchange, dice)
    return 'pass'
  }

  private async late(exchange: Exchange): Promise<void> {
    const msMax = this.dice.between(1, this.plan.lateMsMax)
    if (this.dice.chance(0.5)) await this.world.clock.sleep(msMax)
    else await this.world.lateRequests.untilNextTransaction(exchange, this.plan.lateMsMax)
    await this.world.lateRequests.spare(exchange)
  }

  private async travel({ api }: Exchange, dice: Dice): Promise<void> {
    const { delayMsMax, slow, slowMsMax } = this.plan
    const isSlow = dice.chance(slow)
    const ms = dice.between(0, isSlow ? slowMsMax : delayMsMax)
    if (isSlow) this.world.journal.fault('request-delayed', this.process.name, `${api} ${ms} ms`)
    if (ms > 0) await this.world.clock.sleep(ms)
  }

  private fate<F>(kind: FaultKind, { api, node }: Exchange, fate: F): F {
    this.world.journal.fault(kind, this.process.name, `${api} at ${node.nodeId}`)
    return fate
  }
}
