import type { RelayError } from '../../lib/errors.ts'
import type { FenceWrite } from '../../lib/fencing/fence-store.ts'
import type { Exchange, Fate } from '../../lib/testing/broker-model/model-transport.ts'
import type { SimProcess } from './process.ts'

/** What an await of a process is for: a request to a broker, a write to the fence table; null: anything else. */
export type Errand = Exchange | FenceWrite | null

type AnswerFate = Exclude<Fate, object>

/** Faults that a scenario places itself, beside those that the dice bring. Whoever places one sees to it that it strikes. */
export interface Script {
  /** An await of a process: it may be made to die or stand still here. `what`: a request by its name, or what else is awaited. */
  step?(process: SimProcess, what: string, side: 'before' | 'after', errand: Errand): void
  request?(process: SimProcess, exchange: Exchange): Fate | Promise<Fate>
  answer?(process: SimProcess, exchange: Exchange): AnswerFate | Promise<AnswerFate>
  /** The fence table fails so before it reads or writes, or when it has. `what`: as in `step`. */
  fence?(process: SimProcess, what: string, side: 'before' | 'after', errand: Errand): RelayError | null
  /** The relay's own code is about to run. */
  transform?(process: SimProcess): void
}
