import { SimBells } from './bells.ts'
import { SimBrokers } from './brokers.ts'
import type { FaultKind } from './journal.ts'
import type { Plan } from './plan.ts'
import { SimSource } from './source.ts'
import { type Sabotage, World } from './world.ts'

export interface SimResult {
  readonly seed: number
  readonly violations: readonly string[]
  readonly fired: ReadonlyMap<FaultKind, number>
  /** Digest of everything that happened, in order. */
  readonly digest: string
  readonly timeline: readonly string[]
}

export interface SimOptions {
  readonly sabotage?: Sabotage
  readonly keepsTimeline?: boolean
}

/** How often lanes are rung without getting any further before they count as stuck. A poison record takes some deaths. */
const drainRoundsMax = 60
const drainPauseMsMax = 30_000

/**
 * One run: bells ring and faults strike for a while, then all is made good and the lanes are drained, then the judge
 * looks at what is there.
 */
export async function simulate(
  plan: Plan,
  { sabotage = {}, keepsTimeline = false }: SimOptions = {},
): Promise<SimResult> {
  const world = new World(plan, sabotage, keepsTimeline)
  const { clock, journal, judge } = world
  try {
    await clock.run(run(world))
  } catch (error) {
    judge.violations.push(`the run broke: ${error instanceof Error ? error.stack : String(error)}`)
  }
  return {
    seed: plan.seed,
    violations: judge.violations,
    fired: journal.fired,
    digest: journal.digest(),
    timeline: journal.lines,
  }
}

async function run(world: World): Promise<void> {
  const { clock, plan } = world
  const untilMs = clock.now() + plan.workMs
  const source = new SimSource(world)
  const work = [
    source.write(untilMs),
    new SimBells(world).ring(untilMs),
    new SimBrokers(world).strike(untilMs),
    outages(world, untilMs),
  ]
  await Promise.all(work)
  await drain(world)
  await clock.sleep(plan.timing.transactionTimeoutMs + source.transactionTimeoutMs + 30_000)
  world.model.runScans()
  await clock.sleep(1_000)
  world.judge.verdict()
}

/** The fence table answers nobody for a while. */
async function outages({ clock, dice, plan, weather, journal }: World, untilMs: number): Promise<void> {
  const { outageEveryMs, outageMsMax } = plan.fences
  while (outageEveryMs > 0) {
    await clock.sleep(dice.between(1, 2 * outageEveryMs))
    if (clock.now() >= untilMs) return
    weather.fencesOut = true
    journal.note('fences', 'silent from now on')
    await clock.sleep(dice.between(1, outageMsMax))
    weather.fencesOut = false
    journal.note('fences', 'there again')
  }
}

async function drain({ clock, functions, journal, judge, weather }: World): Promise<void> {
  weather.isRough = false
  await functions.idle()
  journal.note('world', 'all is well again')
  let position = judge.position
  for (let round = 1; round <= drainRoundsMax; round++) {
    await functions.invoke({ kind: 'pull', lingerUntilMs: null })
    if (judge.isDrained) return
    if (judge.position > position) round = 1
    position = judge.position
    await clock.sleep(Math.min(drainPauseMsMax, 200 * round))
  }
  judge.violations.push(`stuck: ${drainRoundsMax} pulls without faults have not drained the source`)
}
