import type { Exchange, Fate, Faults } from '../../lib/testing/broker-model/model-transport.ts'
import type { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import type { Dice } from './dice.ts'
import type { FaultKind, Journal } from './journal.ts'
import type { NetworkPlan } from './plan.ts'
import type { SimProcess } from './process.ts'

/** When faults may strike: off while a run is drained. */
export interface Weather {
  isRough: boolean
}

/** The network between one process and the brokers. */
export class SimNetwork implements Faults {
  private readonly plan: NetworkPlan
  private readonly dice: Dice
  private readonly clock: VirtualClock
  private readonly journal: Journal
  private readonly weather: Weather
  private readonly process: SimProcess

  constructor(
    plan: NetworkPlan,
    dice: Dice,
    { clock, journal, weather }: { clock: VirtualClock; journal: Journal; weather: Weather },
    process: SimProcess,
  ) {
    this.plan = plan
    this.dice = dice
    this.clock = clock
    this.journal = journal
    this.weather = weather
    this.process = process
  }

  async beforeRequest(exchange: Exchange): Promise<Fate> {
    const { plan, dice } = this
    if (!this.weather.isRough) return 'pass'
    await this.travel(exchange, dice)
    if (this.process.isDead && dice.chance(0.5)) return 'lose'
    if (dice.chance(plan.cutBefore)) return this.fate('request-cut', exchange, 'cut')
    if (dice.chance(plan.loseRequest)) return this.fate('request-lost', exchange, 'lose')
    if (!dice.chance(plan.late)) return 'pass'
    const late = this.clock.sleep(dice.between(1, plan.lateMsMax))
    return this.fate('request-late', exchange, { late })
  }

  async afterEffect(exchange: Exchange): Promise<Exclude<Fate, object>> {
    const { plan, dice } = this
    if (!this.weather.isRough) return 'pass'
    if (dice.chance(plan.cutAfter)) return this.fate('answer-cut', exchange, 'cut')
    if (dice.chance(plan.loseAnswer)) return this.fate('answer-lost', exchange, 'lose')
    await this.travel(exchange, dice)
    return 'pass'
  }

  private async travel({ api }: Exchange, dice: Dice): Promise<void> {
    const { delayMsMax, slow, slowMsMax } = this.plan
    const isSlow = dice.chance(slow)
    const ms = dice.between(0, isSlow ? slowMsMax : delayMsMax)
    if (isSlow) this.journal.fault('request-delayed', this.process.name, `${api} ${ms} ms`)
    if (ms > 0) await this.clock.sleep(ms)
  }

  private fate<F>(kind: FaultKind, { api, node }: Exchange, fate: F): F {
    this.journal.fault(kind, this.process.name, `${api} at ${node.nodeId}`)
    return fate
  }
}
