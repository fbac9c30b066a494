import { parseArgs } from 'node:util'
import { inWorkers, type Outcome } from '../batch.ts'
import { cells, faults, followUps, impossible, sides } from './cells.ts'
import { runChain } from './chains.ts'
import { runCell } from './run-cell.ts'
import { lanes, steps } from './steps.ts'

const usage = `npm run crash-matrix: one fault at every step of the commit protocol, in the simulation

A cell is BROKERS.LANE.STEP.SIDE.FAULT.NEXT, and is judged like a run of npm run sim: every record once, in order, its
offsets with its outputs, nothing left open. A fault that does not strike at its step is a violation as well.

  brokers  kafka-4, kafka-3
  lane     ${lanes.join(', ')}
  step     ${steps.map(({ name }) => name).join(', ')}
  side     ${sides.join(', ')} (the effect of the step)
  fault    ${faults.join(', ')}
  next     ${followUps.join(', ')}

  --cell NAME    only this cell, with all that happened in it
  --chains N     instead: N runs in which three owners are struck, one after the other
  --from N       the first of them (1)
  --chain N      only this one, with all that happened in it
  --only PART    only cells whose name has this part: --only commit.after
  --workers N    threads (2)
  --json         the result as the last line of stdout
  --help         this text

Examples
  npm run crash-matrix -- --json
  npm run crash-matrix -- --only kafka-3
  npm run crash-matrix -- --cell kafka-4.handed-over.commit.after.pause.recut
  npm run crash-matrix -- --chains 2000 --json

Exit code 0: no violation. 1: a violation, each with the line that runs its cell again. 2: the command line is wrong.`

const say = (line: string): void => console.error(line)

function readCommandLine() {
  try {
    return parseArgs({
      options: {
        cell: { type: 'string' },
        chains: { type: 'string' },
        from: { type: 'string', default: '1' },
        chain: { type: 'string' },
        only: { type: 'string', default: '' },
        workers: { type: 'string', default: '2' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
}

function wrong(what: string): never {
  say(`${what}\n\n${usage}`)
  process.exit(2)
}

const values = readCommandLine()

function finish(violations: number, result: object): void {
  console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2))
  process.exitCode = violations === 0 ? 0 : 1
}

async function runOne(name: string): Promise<void> {
  const cell = cells.find((one) => one.name === name)
  if (cell === undefined) wrong(`no cell is called '${name}'`)
  const { struck, violations, timeline } = await runCell(cell)
  for (const line of timeline) say(line)
  finish(violations.length, { cell: name, struck, violations })
}

async function runAll(part: string, workers: number): Promise<void> {
  const wanted = cells.filter(({ name }) => name.includes(part))
  if (wanted.length === 0) wrong(`no cell has '${part}' in its name`)
  const startedMs = performance.now()
  const violated: { readonly cell: string; readonly violation: string }[] = []
  let [done, run] = [0, 0]
  const tell = (outcome: Outcome) => {
    if (outcome.kind !== 'cell') return
    const { name, struck, violations } = outcome.result
    done++
    if (struck) run++
    const [violation] = violations
    if (violation !== undefined) {
      violated.push({ cell: name, violation })
      say(`${name}: ${violation}\n  npm run crash-matrix -- --cell ${name}`)
    }
    if (done % 250 === 0) say(`${done} of ${wanted.length} cells, ${violated.length} with a violation`)
  }
  await inWorkers(
    wanted.map(({ name }) => ({ kind: 'cell', name })),
    workers,
    tell,
  )
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const violations = violated.length
  finish(violations, { cells: wanted.length, run, violations, violated, seconds, impossible })
}

async function runOneChain(seed: number): Promise<void> {
  const { timeline, ...result } = await runChain(seed)
  for (const line of timeline) say(line)
  finish(result.violations.length, result)
}

async function runChains(from: number, count: number): Promise<void> {
  const startedMs = performance.now()
  const violated: { readonly chain: number; readonly violation: string }[] = []
  const struck = [0, 0, 0]
  let done = 0
  const tell = (outcome: Outcome) => {
    if (outcome.kind !== 'chain') return
    const { seed, faults: hit, violations } = outcome.result
    done++
    for (const [index, one] of hit.entries()) if (one.struck) struck[index] = (struck[index] ?? 0) + 1
    const [violation] = violations
    if (violation !== undefined) {
      violated.push({ chain: seed, violation })
      say(`${hit.map(({ cell }) => cell).join(', then ')}: ${violation}\n  npm run crash-matrix -- --chain ${seed}`)
    }
    if (done % 250 === 0) say(`${done} of ${count} chains, ${violated.length} with a violation`)
  }
  const seeds = Array.from({ length: count }, (_, index) => from + index)
  await inWorkers(
    seeds.map((seed) => ({ kind: 'chain', seed })),
    whole('workers'),
    tell,
  )
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const violations = violated.length
  finish(violations, { chains: count, run: done, struck, violations, violated, seconds })
}

function whole(name: 'workers' | 'chains' | 'chain' | 'from'): number {
  const found = Number(values[name])
  if (Number.isSafeInteger(found) && found > 0) return found
  return wrong(`--${name} takes a whole number above 0, not '${values[name]}'`)
}

if (values.help) console.log(usage)
else if (values.cell !== undefined) await runOne(values.cell)
else if (values.chain !== undefined) await runOneChain(whole('chain'))
else if (values.chains !== undefined) await runChains(whole('from'), whole('chains'))
else await runAll(values.only, whole('workers'))
