import { expect } from 'vitest'
import { calmPlan } from '../calm.ts'
import type { Plan } from '../plan.ts'
import { drain, settle } from '../simulate.ts'
import { Stage } from '../stage.ts'

export type { Stage }

/**
 * Plays a scenario, then rings until everything is relayed, and lets the judge look. The scenario is over when the promise
 * of `play` is.
 */
export async function perform(over: Partial<Plan>, play: (stage: Stage) => Promise<void>): Promise<Stage> {
  const stage = new Stage(calmPlan(1, over))
  const { world } = stage
  await world.clock.run(
    play(stage).then(async () => {
      world.script = {}
      await drain(world)
      await settle(world, stage.source)
    }),
  )
  expect(world.judge.violations, world.journal.lines.join('\n')).toEqual([])
  return stage
}
