import type { Clock } from '../../lib/clock.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { Transport } from '../../lib/kafka/transport.ts'
import type { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import type { Dice } from './dice.ts'
import type { Journal } from './journal.ts'
import type { Weather } from './network.ts'
import type { FunctionsPlan } from './plan.ts'
import type { Errand, Script } from './script.ts'

const criticalAwaits = new Set(['InitProducerId', 'TxnOffsetCommit', 'Produce', 'EndTxn', 'fence write'])
const never = (): Promise<never> => new Promise(() => {})

interface Surroundings {
  readonly clock: VirtualClock
  readonly journal: Journal
  readonly dice: Dice
  readonly plan: FunctionsPlan
  readonly weather: Weather
  readonly script: () => Script
  /** Ahead of the true time by so much; negative: behind. */
  readonly skewMs: number
}

/**
 * A process of which every await is in the hands of the simulation: there it may die, or stand still for a while. What
 * it has sent goes on without it; what it waits for comes when it runs again, or never.
 */
export class SimProcess {
  readonly name: string
  private readonly surroundings: Surroundings
  private readonly end = Promise.withResolvers<void>()
  private readonly deathListeners: (() => void)[] = []
  private dead = false
  private frozen: PromiseWithResolvers<void> | null = null
  private paused: PromiseWithResolvers<void> | null = null

  constructor(name: string, surroundings: Surroundings) {
    this.name = name
    this.surroundings = surroundings
  }

  get isDead(): boolean {
    return this.dead
  }

  get ended(): Promise<void> {
    return this.end.promise
  }

  onDeath(listener: () => void): void {
    this.deathListeners.push(listener)
  }

  die(): void {
    if (this.dead) return
    this.dead = true
    for (const listener of this.deathListeners) listener()
    this.end.resolve()
  }

  /** Between invocations nothing of a container runs. */
  freeze(): void {
    this.frozen ??= Promise.withResolvers()
  }

  thaw(): void {
    this.frozen?.resolve()
    this.frozen = null
  }

  /** Stands still in the middle of its work until it is resumed. */
  pause(): void {
    this.paused ??= Promise.withResolvers()
  }

  resume(): void {
    this.paused?.resolve()
    this.paused = null
  }

  /** Work whose beginning and whose outcome are each an await where the process may end or stand still. */
  async guard<T>(what: string, work: () => Promise<T>, errand: Errand = null): Promise<T> {
    await this.step(what, 'before', errand)
    try {
      const result = await work()
      await this.step(what, 'after', errand)
      return result
    } catch (error) {
      await this.step(what, 'after', errand)
      throw error
    }
  }

  private async step(what: string, side: 'before' | 'after', errand: Errand): Promise<void> {
    await this.running()
    this.surroundings.script().step?.(this, what, side, errand)
    this.rollDice(what, side)
    await this.running()
  }

  private rollDice(what: string, side: 'before' | 'after'): void {
    const { dice, plan, journal, weather } = this.surroundings
    if (!weather.isRough) return
    const isCritical = criticalAwaits.has(what)
    if (dice.chance(plan.crash + (isCritical ? plan.crashCritical : 0))) {
      journal.fault('crash', this.name, `${side} ${what}`)
      this.die()
    }
    const pause = plan.pause + (isCritical ? plan.pauseCritical : 0)
    if (!this.dead && dice.chance(pause)) this.pauseFor(dice.between(1, plan.pauseMsMax), `${side} ${what}`)
  }

  clock(): Clock {
    const { clock, skewMs } = this.surroundings
    return {
      now: () => clock.now() + skewMs,
      sleep: (ms, signal) => this.guard('sleep', () => clock.sleep(ms, signal)),
    }
  }

  transport(transport: Transport): Transport {
    return {
      bootstrap: transport.bootstrap,
      send: (request) => this.guard(request.api, () => transport.send(request), request),
      capabilities: (node, deadline) => this.guard('ApiVersions', () => transport.capabilities(node, deadline)),
      close: () => transport.close(),
    }
  }

  fences(store: FenceStore): FenceStore {
    return {
      read: (...args) => this.atTable('fence read', () => store.read(...args)),
      write: (write, deadline) => this.atTable('fence write', () => store.write(write, deadline), write),
      rememberFirst: (...args) => this.guard('fence remembers', () => store.rememberFirst(...args)),
      list: (...args) => this.guard('fence list', () => store.list(...args)),
      close: () => store.close(),
    }
  }

  private atTable<T>(what: string, work: () => Promise<T>, errand: Errand = null): Promise<T> {
    const failAs = (side: 'before' | 'after') => {
      const failure = this.surroundings.script().fence?.(this, what, side, errand)
      if (failure) throw failure
    }
    const act = async () => {
      failAs('before')
      const result = await work()
      failAs('after')
      return result
    }
    return this.guard(what, act, errand)
  }

  private pauseFor(ms: number, where: string): void {
    const { clock, journal } = this.surroundings
    journal.fault('pause', this.name, `${ms} ms ${where}`)
    this.pause()
    void clock.sleep(ms).then(() => this.resume())
  }

  private async running(): Promise<void> {
    for (let gate = this.gate(); gate !== null; gate = this.gate()) await gate
    if (this.dead) await never()
  }

  private gate(): Promise<void> | null {
    return this.frozen?.promise ?? this.paused?.promise ?? null
  }
}
