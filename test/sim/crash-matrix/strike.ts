import { RelayError } from '../../../lib/errors.ts'
import type { Exchange, Fate } from '../../../lib/testing/broker-model/model-transport.ts'
import type { SimProcess } from '../process.ts'
import type { Errand, Script } from '../script.ts'
import type { Stage } from '../stage.ts'
import type { Cell, Side } from './cells.ts'
import type { Await } from './steps.ts'

/** The one fault of a cell, at its step of its container, and whether it has happened. */
export class Strike {
  /** Resolves when it has struck. */
  readonly struck: Promise<void>
  readonly script: Script
  private readonly cell: Cell
  private readonly stage: Stage
  private readonly subject: SimProcess
  private readonly seen: Await[] = []
  private readonly strike = Promise.withResolvers<void>()
  private readonly arrival = Promise.withResolvers<void>()
  private target: Await | null = null
  /** The target on its way to a broker. */
  private onWire: Exchange | null = null
  /** A copy is on its way; its transaction may have ended since. */
  private copy: 'none' | 'left' | 'outlived' | 'arrived' = 'none'
  hasStruck = false

  constructor(cell: Cell, stage: Stage, subject: SimProcess) {
    this.cell = cell
    this.stage = stage
    this.subject = subject
    this.struck = this.strike.promise
    this.script = {
      step: (process, what, side, errand) => this.step(process, what, side, errand),
      transform: (process) => this.step(process, 'transform', 'before', null),
      request: (process, exchange) => this.request(process, exchange),
      answer: (_process, exchange) => this.answer(exchange),
      fence: (process, what, side, errand) => this.fence(process, what, side, errand),
    }
  }

  private step(process: SimProcess, what: string, side: Side, errand: Errand): void {
    if (process !== this.subject) return
    if (side === 'before') this.begin({ what, errand })
    if (!this.isAt(what, errand, side)) return
    if (this.cell.fault === 'crash') process.die()
    else if (this.cell.fault === 'pause') process.pause()
    else return
    this.hit(side)
  }

  private begin(now: Await): void {
    if (this.target === null && this.cell.step.isAt(now, this.seen)) this.target = now
    this.seen.push(now)
  }

  /** Whether this is the step, once, and the side of it at which the fault strikes. */
  private isAt(what: string, errand: Errand, side: Side): boolean {
    const isTarget = this.target !== null && this.target.what === what && this.target.errand === errand
    return isTarget && side === this.cell.side && !this.hasStruck
  }

  private hit(side: Side): void {
    const { fault, step } = this.cell
    this.hasStruck = true
    this.stage.world.journal.note(this.subject.name, `! ${fault} ${side} ${step.name}`)
    this.strike.resolve()
  }

  private async request(process: SimProcess, exchange: Exchange): Promise<Fate> {
    if (process === this.subject) this.recognise(exchange)
    if (exchange === this.onWire && this.copy === 'none' && this.cell.fault === 'late-copy') {
      this.copy = 'left'
      return { late: this.arrival.promise }
    }
    if (exchange.api === 'TxnOffsetCommit' && this.cell.side === 'before') await this.arrive()
    return this.fate(exchange, 'before')
  }

  private async answer(exchange: Exchange): Promise<'pass' | 'cut' | 'lose'> {
    if (exchange.api === 'TxnOffsetCommit' && this.cell.side === 'after') await this.arrive()
    if (exchange.api === 'EndTxn' && this.copy === 'left') this.copy = 'outlived'
    return this.fate(exchange, 'after')
  }

  /** The transport may send a copy: the first request of this kind to that broker since the step has begun is the one. */
  private recognise(exchange: Exchange): void {
    const errand = this.target?.errand ?? null
    if (this.onWire !== null || errand === null || !('api' in errand)) return
    if (errand.api === exchange.api && errand.node === exchange.node) this.onWire = exchange
  }

  private fate(exchange: Exchange, side: Side): 'pass' | 'cut' | 'lose' {
    const { fault } = this.cell
    if (fault !== 'lost-answer' && fault !== 'silence') return 'pass'
    if (exchange !== this.onWire || side !== this.cell.side || this.hasStruck) return 'pass'
    this.hit(side)
    return fault === 'silence' ? 'lose' : 'cut'
  }

  /** The next transaction has come so far: now the copy is there, and everybody else a moment later. */
  private async arrive(): Promise<void> {
    if (this.copy !== 'outlived') return
    this.copy = 'arrived'
    this.hit(this.cell.side)
    this.arrival.resolve()
    await this.stage.sleep(1)
  }

  private fence(process: SimProcess, what: string, side: Side, errand: Errand): RelayError | null {
    if (process !== this.subject || this.cell.fault !== 'lost-answer' || !this.isAt(what, errand, side)) return null
    this.hit(side)
    const outcome = what === 'fence write' ? 'unknown' : 'not-applied'
    return new RelayError('FENCE_STORE_UNAVAILABLE', `no answer to this ${what}`, { outcome })
  }
}
