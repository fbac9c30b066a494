import type { Clock, Random } from '../../clock.ts'
import { messageOf, RelayError } from '../../errors.ts'
import { type Fault, pause } from './fault.ts'
import { FaultPlan } from './fault-plan.ts'

/** A fault that is over. */
export interface FaultEvent {
  readonly name: string
  readonly beganMs: number
  readonly endedMs: number
  /** What it hit; null: nothing, so that it does not count. */
  readonly hit: string | null
}

export interface FaultSchedule {
  readonly faults: readonly Fault[]
  readonly everyMs: number
  readonly forMs: number
  readonly clock: Clock
  readonly random: Random
  /** Ends everything: faults under way heal. */
  readonly signal: AbortSignal
  readonly began: (name: string) => void
  readonly ended: (event: FaultEvent) => void
}

/**
 * Fires a fault every `everyMs` for `forMs`, whether or not earlier ones are over. Kinds that have hit nothing by then get
 * one more turn each. Resolves when the last one is over.
 * @throws RelayError LOCAL_STACK when a fault itself fails: then the run says nothing
 */
export async function runFaults(schedule: FaultSchedule): Promise<readonly FaultEvent[]> {
  const { faults, everyMs, forMs, clock, random, signal } = schedule
  const plan = new FaultPlan(faults, random)
  const running = new Map<Fault, Promise<FaultEvent>>()
  const all: Promise<FaultEvent>[] = []
  const beganMs = clock.now()
  // In the middle of each interval, so that the first comes soon and the last has company.
  for (let dueMs = everyMs / 2; dueMs < forMs && !signal.aborted; dueMs += everyMs) {
    await pause(clock, Math.max(0, beganMs + dueMs - clock.now()), signal)
    const fault = signal.aborted ? null : plan.next(running.keys())
    if (fault === null) continue
    const over = fire(fault, schedule).finally(() => running.delete(fault))
    running.set(fault, over)
    all.push(over)
    over.catch(() => undefined) // thrown below
  }
  await pause(clock, Math.max(0, beganMs + forMs - clock.now()), signal)
  const events = await Promise.all(all)
  for (const fault of faults) {
    if (signal.aborted || events.some(({ name, hit }) => name === fault.name && hit !== null)) continue
    events.push(await fire(fault, schedule))
  }
  return events
}

async function fire(fault: Fault, { clock, signal, began, ended }: FaultSchedule): Promise<FaultEvent> {
  const beganMs = clock.now()
  began(fault.name)
  const hit = await fault.fire(signal).catch((error) => {
    throw new RelayError('LOCAL_STACK', `the fault ${fault.name} itself failed: ${messageOf(error)}`, { cause: error })
  })
  const event = { name: fault.name, beganMs, endedMs: clock.now(), hit }
  ended(event)
  return event
}
