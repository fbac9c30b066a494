import { planOf } from '../plan.ts'
import { simulate } from '../simulate.ts'
import type { Control } from './controls.ts'

export interface Caught {
  readonly name: string
  readonly breaks: string
  /** How many seeds it took; null: it was not caught. */
  readonly seeds: number | null
  readonly violation: string | null
}

/** Runs a broken relay through seed after seed, the same as everybody's, until the judge notices. */
export async function catchControl(
  { name, breaks, sabotage, focus = (plan) => plan }: Control,
  seedsMax: number,
): Promise<Caught> {
  for (let seed = 1; seed <= seedsMax; seed++) {
    const { violations } = await simulate(focus(planOf(seed)), { sabotage })
    const [violation] = violations
    if (violation !== undefined) return { name, breaks, seeds: seed, violation: violation.slice(0, 300) }
  }
  return { name, breaks, seeds: null, violation: null }
}
