import type { Exchange, Fate } from '../../lib/testing/broker-model/model-transport.ts'
import type { SimProcess } from './process.ts'

/** Faults that a scenario places itself, beside those that the dice bring. Whoever places one sees to it that it strikes. */
export interface Script {
  /** An await of a process: it may be made to die or stand still here. `what`: a request by its name, or what else is awaited. */
  step?(process: SimProcess, what: string, side: 'before' | 'after'): void
  request?(process: SimProcess, exchange: Exchange): Fate
  answer?(process: SimProcess, exchange: Exchange): Exclude<Fate, object>
  /** The relay's own code is about to run. */
  transform?(process: SimProcess): void
}
