import { days, hours, seconds } from '../../lib/units.ts'
import { SimBells } from './bells.ts'
import { SimBrokers } from './brokers.ts'
import type { FaultKind } from './journal.ts'
import type { Plan } from './plan.ts'
import { Provocations } from './provoke.ts'
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

/**
 * How often lanes are rung without getting any further before they count as stuck: for more than the quarter of an hour in
 * which an older deployment stands down, and than a poison record takes to be known.
 */
const drainRoundsMax = 60
const drainPauseMsMax = seconds(30)

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
  const { plan } = world
  const provocations = new Provocations(world)
  const source = new SimSource(world)
  provocations.prepare()
  await work(world, source, provocations)
  await drain(world)
  if (plan.provocation === 'idle-days') {
    await idle(world)
    await work(world, source, provocations)
    await drain(world)
  }
  provocations.conclude()
  await settle(world, source)
}

/** Whatever was left open times out; then the judge looks. */
export async function settle({ clock, fences, judge, model, plan }: World, source: SimSource): Promise<void> {
  await clock.sleep(plan.timing.transactionTimeoutMs + source.transactionTimeoutMs + seconds(30))
  model.runScans()
  await clock.sleep(seconds(1))
  judge.verdict(await fences.records())
}

async function work(world: World, source: SimSource, provocations: Provocations): Promise<void> {
  const { clock, plan, weather } = world
  const untilMs = clock.now() + plan.workMs
  weather.isRough = true
  await Promise.all([
    source.write(untilMs),
    new SimBells(world).ring(untilMs),
    new SimBrokers(world).strike(untilMs),
    provocations.strike(untilMs),
    outages(world, untilMs),
  ])
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

/**
 * No records for so long that brokers forget offsets, ids and records, and that only some containers are still warm. Either
 * somebody sweeps, and nothing may be forgotten, or nobody does, and a record that was left dirty may stop by name.
 */
async function idle({ clock, dice, fences, functions, journal, judge, model }: World): Promise<void> {
  judge.archive()
  if (dice.chance(0.5)) functions.discard()
  const untilMs = clock.now() + days(dice.between(2, 9))
  const isSwept = dice.chance(0.5)
  while (isSwept && clock.now() < untilMs) {
    await clock.sleep(hours(12))
    await functions.invoke({ kind: 'sweep' })
  }
  await clock.sleep(Math.max(0, untilMs - clock.now()))
  journal.fault('idle-days', 'world', isSwept ? 'swept' : 'not swept')
  model.runScans()
  const isDirty = (await fences.records()).some(({ dirty }) => dirty)
  if (isDirty && !isSwept) judge.expectedStops.add('OFFSETS_LOST')
  if (!judge.hasCommittedAll) journal.fault('offsets-expired', 'brokers')
  if (isSwept && !judge.hasCommittedAll) judge.violations.push('offsets were forgotten although somebody swept')
  if (model.transactions.all().length === 0) journal.fault('id-expired', 'brokers')
}

/** Rings without any fault until every lane has relayed its source, or stands still for good. */
export async function drain({ clock, functions, journal, judge, weather }: World): Promise<void> {
  weather.isRough = false
  await functions.idle()
  judge.calm()
  journal.note('world', 'all is well again')
  let position = judge.position
  for (let round = 1; round <= drainRoundsMax; round++) {
    await functions.invoke({ kind: 'pull', lingerUntilMs: null })
    if (judge.isDrained) return
    if (judge.position > position) round = 1
    position = judge.position
    await clock.sleep(Math.min(drainPauseMsMax, seconds(round)))
  }
  judge.violations.push(`stuck: ${drainRoundsMax} pulls without faults have not drained the source`)
}
