import { planOf } from '../plan.ts'
import { simulate } from '../simulate.ts'
import { type Control, planFor } from './controls.ts'

export interface Caught {
  readonly name: string
  readonly breaks: string
  /** How many seeds it took; null: it was not caught. */
  readonly seeds: number | null
  readonly violation: string | null
}

/**
 * Runs a broken relay through seed after seed until the judge notices. What it then sees must be the control's doing: the
 * relay as it is passes the same run.
 */
export async function catchControl(control: Control, seedsMax: number): Promise<Caught> {
  const { name, breaks, sabotage } = control
  for (let seed = 1; seed <= seedsMax; seed++) {
    const plan = planFor(control, planOf(seed))
    const [violation] = (await simulate(plan, { sabotage })).violations
    if (violation === undefined) continue
    const isOurs = (await simulate(plan)).violations.length === 0
    if (isOurs) return { name, breaks, seeds: seed, violation: violation.slice(0, 300) }
  }
  return { name, breaks, seeds: null, violation: null }
}
