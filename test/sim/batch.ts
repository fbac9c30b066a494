import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Caught, catchControl } from './controls/catch.ts'
import { controls } from './controls/controls.ts'
import { type Cell, cells } from './crash-matrix/cells.ts'
import { type ChainResult, runChain } from './crash-matrix/chains.ts'
import { type CellResult, runCell } from './crash-matrix/run-cell.ts'
import type { FaultKind } from './journal.ts'
import { planOf } from './plan.ts'
import { simulate } from './simulate.ts'

/** One task of a worker: a seed, a control, a cell of the crash matrix, or a chain of them. */
export type Task =
  | { readonly kind: 'seed'; readonly seed: number }
  | { readonly kind: 'control'; readonly name: string; readonly seedsMax: number }
  | { readonly kind: 'cell'; readonly name: string }
  | { readonly kind: 'chain'; readonly seed: number }

export type Outcome =
  | {
      readonly kind: 'seed'
      readonly seed: number
      readonly violations: readonly string[]
      readonly fired: readonly (readonly [FaultKind, number])[]
      readonly digest: string
    }
  | { readonly kind: 'control'; readonly caught: Caught }
  | { readonly kind: 'cell'; readonly result: Omit<CellResult, 'timeline'> }
  | { readonly kind: 'chain'; readonly result: Omit<ChainResult, 'timeline'> }

/** Does the tasks on `count` threads, and tells of each as it is done. */
export async function inWorkers(
  tasks: readonly Task[],
  count: number,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = [...tasks]
  await Promise.all(Array.from({ length: Math.min(count, tasks.length) }, () => workThrough(waiting, tell)))
}

function workThrough(waiting: Task[], tell: (outcome: Outcome) => void): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: 'simulation' })
  return new Promise((resolve, reject) => {
    const next = () => {
      const task = waiting.shift()
      if (task === undefined) void worker.terminate().then(() => resolve())
      else worker.postMessage(task)
    }
    worker.on('error', reject)
    worker.on('message', (outcome: Outcome) => {
      tell(outcome)
      next()
    })
    next()
  })
}

export async function perform(task: Task): Promise<Outcome> {
  if (task.kind === 'seed') {
    const { seed, violations, fired, digest } = await simulate(planOf(task.seed))
    return { kind: 'seed', seed, violations, fired: [...fired], digest }
  }
  if (task.kind === 'cell') {
    const { name, struck, violations } = await runCell(cellCalled(task.name))
    return { kind: 'cell', result: { name, struck, violations } }
  }
  if (task.kind === 'chain') {
    const { seed, faults, violations } = await runChain(task.seed)
    return { kind: 'chain', result: { seed, faults, violations } }
  }
  const control = controls.find(({ name }) => name === task.name)
  if (control === undefined) throw new Error(`no control ${task.name}`)
  return { kind: 'control', caught: await catchControl(control, task.seedsMax) }
}

function cellCalled(name: string): Cell {
  const cell = cells.find((one) => one.name === name)
  if (cell === undefined) throw new Error(`no cell ${name}`)
  return cell
}

if (!isMainThread && workerData === 'simulation') {
  parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await perform(task)))
}
