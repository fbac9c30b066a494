import { seconds } from '../../../lib/units.ts'
import { calmPlan } from '../calm.ts'
import type { SimContainer } from '../container.ts'
import { Dice } from '../dice.ts'
import type { Script } from '../script.ts'
import { drain, settle } from '../simulate.ts'
import { Stage } from '../stage.ts'
import type { Sabotage } from '../world.ts'
import { type Cell, cells } from './cells.ts'
import { laneShape, prepare } from './run-cell.ts'
import { Strike } from './strike.ts'

export interface ChainResult {
  readonly seed: number
  /** The faults in their order; a step that a successor does not come to cannot be struck. */
  readonly faults: readonly { readonly cell: string; readonly struck: boolean }[]
  readonly violations: readonly string[]
  readonly timeline: readonly string[]
}

const pauseMsMax = 4_000

/**
 * A fault strikes an owner, another one whoever comes next, and a third one whoever comes then: which, and how long it
 * is between them, one number decides. An owner that stands still goes on before the third or after it.
 */
export async function runChain(seed: number, sabotage: Sabotage = {}): Promise<ChainResult> {
  const dice = new Dice(seed).fork('chain')
  const first = dice.pick(cells)
  const next = cells.filter(({ protocol, fault }) => protocol === first.protocol && fault !== 'pause')
  const chain = [first, dice.pick(next), dice.pick(next)] as const
  const stage = new Stage(calmPlan(1, { protocol: first.protocol, lanes: laneShape }), sabotage)
  const { clock, judge, journal } = stage.world
  const strikes: Strike[] = []
  try {
    await clock.run(play(stage, dice, chain, strikes))
  } catch (error) {
    judge.violations.push(`the run broke: ${error instanceof Error ? error.stack : String(error)}`)
  }
  const faults = chain.map(({ name }, index) => ({ cell: name, struck: strikes[index]?.hasStruck ?? false }))
  return { seed, faults, violations: judge.violations, timeline: journal.lines }
}

async function play(stage: Stage, dice: Dice, chain: readonly [Cell, Cell, Cell], strikes: Strike[]): Promise<void> {
  const { world } = stage
  const owners = [await stage.container(), await stage.container(), await stage.container()] as const
  const [owner, heir, last] = owners
  await prepare[chain[0].lane](stage, owner, heir)
  const arm = (cell: Cell, container: SimContainer): Strike => {
    const strike = new Strike(cell, stage, container.process)
    strikes.push(strike)
    world.script = together(strikes.map(({ script }) => script))
    stage.write(2)
    return strike
  }
  const strike = arm(chain[0], owner)
  const invocation = stage.ring(owner, stage.event())
  await Promise.race([strike.struck, invocation])
  if (chain[0].fault !== 'pause') await invocation
  arm(chain[1], heir)
  await ringAFew(stage, dice, heir)
  if (dice.chance(0.5)) owner.process.resume()
  arm(chain[2], last)
  await ringAFew(stage, dice, last)
  owner.process.resume()
  await invocation
  stage.write(1)
  if (!owner.process.isDead) await stage.ring(owner, stage.event())
  await stage.sleep(seconds(1))
  world.script = {}
  await drain(world)
  await settle(world, stage.source)
}

async function ringAFew(stage: Stage, dice: Dice, container: SimContainer): Promise<void> {
  for (let rings = 0; rings < 3 && !container.process.isDead; rings++) {
    await stage.ring(container, rings === 1 ? { kind: 'pull', lingerUntilMs: null } : stage.event())
    await stage.sleep(dice.between(0, pauseMsMax))
  }
}

/** Each fault in its own place; of several at one request the first. */
function together(scripts: readonly Script[]): Script {
  return {
    step: (...args) => {
      for (const script of scripts) script.step?.(...args)
    },
    transform: (process) => {
      for (const script of scripts) script.transform?.(process)
    },
    async request(...args) {
      const fates = await Promise.all(scripts.map((script) => script.request?.(...args) ?? 'pass'))
      return fates.find((fate) => fate !== 'pass') ?? 'pass'
    },
    async answer(...args) {
      const fates = await Promise.all(scripts.map((script) => script.answer?.(...args) ?? 'pass'))
      return fates.find((fate) => fate !== 'pass') ?? 'pass'
    },
    fence: (...args) =>
      scripts.map((script) => script.fence?.(...args) ?? null).find((error) => error !== null) ?? null,
  }
}
