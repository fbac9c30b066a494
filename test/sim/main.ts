/**
 * `npm run sim -- --seeds 2000`: relays under seeded faults. `--seed N`: one run with its timeline. `--controls`: relays
 * with one rule taken out, which must be caught. `--json`: the result as the last line.
 */
import { parseArgs } from 'node:util'
import { inWorkers, type Outcome } from './batch.ts'
import { controls, planFor } from './controls/controls.ts'
import { faultKinds } from './journal.ts'
import { planOf } from './plan.ts'
import { promiseName } from './promises.ts'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    controls: { type: 'boolean', default: false },
    control: { type: 'string' },
    'seeds-max': { type: 'string', default: '400' },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => console.error(line)

function finish(isGood: boolean, result: object): void {
  console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2))
  process.exitCode = isGood ? 0 : 1
}

/** A number of the command line. */
function whole(name: 'seeds' | 'from' | 'seed' | 'workers' | 'seeds-max'): number {
  const found = Number(values[name])
  if (Number.isSafeInteger(found) && found >= 0) return found
  throw new Error(`--${name} takes a whole number, not '${values[name]}'`)
}

async function runOne(seed: number): Promise<void> {
  const control = controls.find(({ name }) => name === values.control)
  const plan = control ? planFor(control, planOf(seed)) : planOf(seed)
  const result = await simulate(plan, { sabotage: control?.sabotage ?? {}, keepsTimeline: true })
  for (const line of [`plan ${JSON.stringify(plan)}`, ...result.timeline]) say(line)
  const { violations, digest } = result
  finish(violations.length === 0, { seed, violations, digest, faultsFired: Object.fromEntries(result.fired) })
}

async function runSeeds(from: number, count: number): Promise<void> {
  const startedMs = performance.now()
  const fired = new Map<string, number>(faultKinds.map((kind) => [kind, 0]))
  const failed: { readonly seed: number; readonly violation: string | undefined }[] = []
  let done = 0
  const tell = (outcome: Outcome) => {
    if (outcome.kind !== 'seed') return
    done++
    for (const [kind, times] of outcome.fired) fired.set(kind, (fired.get(kind) ?? 0) + times)
    const [violation] = outcome.violations
    if (violation !== undefined) {
      failed.push({ seed: outcome.seed, violation })
      say(`seed ${outcome.seed} fails: ${violation}\n  npm run sim -- --seed ${outcome.seed}`)
    }
    if (done % 100 === 0) say(`${done} of ${count} seeds, ${failed.length} failed`)
  }
  const seeds = Array.from({ length: count }, (_, index) => from + index)
  await inWorkers(
    seeds.map((seed) => ({ kind: 'seed', seed })),
    whole('workers'),
    tell,
  )
  const seconds = (performance.now() - startedMs) / 1_000
  const silent = [...fired].filter(([, times]) => times === 0).map(([kind]) => kind)
  if (silent.length > 0) say(`never fired: ${silent.join(', ')}`)
  finish(failed.length === 0, {
    seeds: count,
    violations: failed.length,
    promises: countPromises(seeds),
    failedSeeds: failed.map(({ seed }) => seed),
    faultsFired: Object.fromEntries(fired),
    neverFired: silent,
    seconds: Math.round(seconds),
    secondsPerSeed: Number((seconds / count).toFixed(4)),
  })
}

/** How many of the seeds promise what. */
const countPromises = (seeds: readonly number[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(seeds, (seed) => promiseName(planOf(seed).promise))].map(([name, { length }]) => [name, length]),
  )

async function runControls(): Promise<void> {
  const seeds: Record<string, number | null> = {}
  const wanted = controls.filter(({ name }) => values.control === undefined || values.control === name)
  const tell = (outcome: Outcome) => {
    if (outcome.kind !== 'control') return
    const { name, breaks, seeds: taken, violation } = outcome.caught
    seeds[name] = taken
    say(taken === null ? `${name} (${breaks}) was NOT caught` : `${name} (${breaks}): seed ${taken}, ${violation}`)
  }
  const tasks = wanted.map(({ name }) => ({ kind: 'control' as const, name, seedsMax: whole('seeds-max') }))
  await inWorkers(tasks, whole('workers'), tell)
  const caught = Object.values(seeds).filter((taken) => taken !== null).length
  finish(caught === wanted.length, { caught, of: wanted.length, seeds })
}

if (values.controls) await runControls()
else if (values.seed !== undefined) await runOne(whole('seed'))
else await runSeeds(whole('from'), whole('seeds'))
