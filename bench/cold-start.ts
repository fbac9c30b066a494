import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleFunction, bundleRelay } from '../lib/local/bundle.ts'
import { nodeFlags } from '../lib/local/lambda-host/node-flags.ts'
import { createTopics } from '../lib/local/topics.ts'
import { bellEvent } from './bell-event.ts'
import type { FunctionReport } from './cold/function-host.ts'
import type { KafkajsReport } from './cold/kafkajs-process.ts'
import { MeasuredProcess } from './cold/measured-process.ts'
import { zipBytesOf } from './cold/zip-size.ts'
import type { Reporting } from './in-surroundings.ts'
import { assertDelivered, checkDelivery, NumberedRecords } from './numbered-records.ts'
import { median, rounded } from './statistics.ts'
import type { Surroundings } from './surroundings.ts'

export interface ColdStartOptions extends Reporting {
  readonly runs: number
}

/** Milliseconds over the runs. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface ColdStartResult {
  /** Our process from its start to the answer, to `node -e 0` + kafkajs connect + one kafkajs transaction: medians. */
  readonly ratio: number
  /** The same to the whole process that does this with kafkajs, its loading included. */
  readonly ratioVsKafkajsProcess: number
  readonly relay: {
    readonly bundleBytes: number
    readonly zipBytes: number
    readonly moduleLoadMs: Spread
    /** From before its process is spawned to the answer of its first invocation; the commit comes before the answer. */
    readonly coldMs: Spread
    /** From the call of the handler, cold and warm, to its answer. */
    readonly firstInvocationMs: Spread
    /** Of the processor, until the first answer. */
    readonly coldCpuMs: Spread
    readonly warmInvocationMs: Spread
    /** Warm, and everything is relayed already: what the rest of an invocation costs. */
    readonly warmInvocationWithoutWorkMs: Spread
  }
  readonly bareNodeMs: Spread
  readonly kafkajs: {
    readonly processMs: Spread
    readonly connectMs: Spread
    readonly transactionMs: Spread
    readonly cpuMs: Spread
  }
  readonly workload: { readonly recordsPerWindow: number; readonly runs: number }
}

const recordsPerWindow = 100
/** A cold one and a warm one. */
const windowsPerRun = 2
const outputPartitions = 4
const functionMemoryMb = 512

/**
 * What is uploaded, loaded and called in a new process for each run, woken by an event for a hundred records of a lane that
 * another container has had before. Beside it, in turns, `node -e 0` and a process that commits as many records with
 * kafkajs, all of them in hand.
 */
export async function coldStart(
  place: Surroundings,
  { runs, signal, say }: ColdStartOptions,
): Promise<ColdStartResult> {
  const names = ['relay', 'kafkajs'].flatMap((name) => [
    [`source.${name}`, 1] as const,
    [`output.${name}`, outputPartitions] as const,
  ])
  await createTopics(place.cluster, new Map(names))
  const bundle = await bundleRelay(join(import.meta.dirname, 'cold/copy-relay.ts'), 'relay', join(place.dir, 'relay'))
  const programs = {
    bundle: bundle.file,
    host: (await bundleFunction(join(import.meta.dirname, 'cold/function-host.ts'), join(place.dir, 'bin'))).file,
    kafkajs: (await bundleFunction(join(import.meta.dirname, 'cold/kafkajs-process.ts'), join(place.dir, 'bin'))).file,
  }
  const runner = new Runner(place, programs, await NumberedRecords.open(place.cluster), signal)
  await runner.run(0) // first start of the lane, of both ids and of what the broker compiles: not counted
  const found: Run[] = []
  for (let run = 1; run <= runs; run++) {
    found.push(await runner.run(run))
    say(`run ${run} of ${runs}: ${runText(found)}`)
  }
  const records = (runs + 1) * recordsPerWindow
  assertDelivered(
    'relay',
    records * windowsPerRun,
    await checkDelivery(place.cluster, 'output.relay', records * windowsPerRun),
  )
  assertDelivered('kafkajs', records, await checkDelivery(place.cluster, 'output.kafkajs', records))
  return resultOf(found, bundle.bytes, await zipBytesOf(join(place.dir, 'relay')))
}

interface Run {
  readonly bareNodeMs: number
  readonly cold: FunctionReport & { readonly sinceStartMs: number }
  readonly warmMs: number
  readonly noWorkMs: number
  readonly kafkajs: KafkajsReport & { readonly sinceStartMs: number }
}

interface Programs {
  readonly bundle: string
  readonly host: string
  readonly kafkajs: string
}

class Runner {
  readonly #place: Surroundings
  readonly #programs: Programs
  readonly #writer: NumberedRecords
  readonly #signal: AbortSignal

  constructor(place: Surroundings, programs: Programs, writer: NumberedRecords, signal: AbortSignal) {
    this.#place = place
    this.#programs = programs
    this.#writer = writer
    this.#signal = signal
  }

  async run(number: number): Promise<Run> {
    this.#signal.throwIfAborted()
    const ours = number % 2 === 0 ? await this.#relay(number) : null // who goes first changes with each run
    const kafkajs = await this.#kafkajs(number)
    const bareNodeMs = await this.#start('node', ['-e', '0']).lifeMs()
    return { bareNodeMs, kafkajs, ...(ours ?? (await this.#relay(number))) }
  }

  async #relay(run: number): Promise<Pick<Run, 'cold' | 'warmMs' | 'noWorkMs'>> {
    const from = run * windowsPerRun * recordsPerWindow
    const event = await this.#records(from)
    const eventFile = join(this.#place.dir, 'event.json')
    await writeFile(eventFile, event)
    const { host, bundle } = this.#programs
    const child = this.#start('relay', [...nodeFlags(functionMemoryMb), host, bundle, eventFile])
    try {
      const cold = await child.report<FunctionReport>()
      const next = await this.#records(from + recordsPerWindow)
      child.tell(next)
      const { handleMs: warmMs } = await child.report<FunctionReport>()
      child.tell(next)
      const { handleMs: noWorkMs } = await child.report<FunctionReport>()
      return { cold, warmMs, noWorkMs }
    } finally {
      await child.kill()
    }
  }

  async #kafkajs(run: number): Promise<Run['kafkajs']> {
    const from = run * recordsPerWindow
    await this.#writer.append('source.kafkajs', 0, from, from + recordsPerWindow)
    const args = [this.#programs.kafkajs, String(from), String(from + recordsPerWindow)]
    const child = this.#start('kafkajs', args)
    try {
      return await child.report<KafkajsReport>()
    } finally {
      await child.kill()
    }
  }

  /** Writes a window and answers the event that rings for it. */
  async #records(from: number): Promise<string> {
    await this.#writer.append('source.relay', 0, from, from + recordsPerWindow)
    return JSON.stringify(bellEvent('source.relay', from, from + recordsPerWindow))
  }

  #start(name: string, args: readonly string[]): MeasuredProcess {
    const { dir, env } = this.#place
    return new MeasuredProcess({
      name,
      args,
      dir,
      env: { ...env, FENCEPOST_PREFIX: 'cold', POWERTOOLS_LOG_LEVEL: 'INFO' },
      signal: this.#signal,
    })
  }
}

const runText = (found: readonly Run[]): string => {
  const { cold, kafkajs, bareNodeMs } = found.at(-1) as Run // one has just been added
  const figures = [cold.sinceStartMs, cold.loadMs, bareNodeMs, kafkajs.connectMs, kafkajs.transactionMs].map(Math.round)
  const [coldMs, loadMs, nodeMs, connectMs, transactionMs] = figures
  return `cold ${coldMs} ms (load ${loadMs} ms); node ${nodeMs} ms, kafkajs connects in ${connectMs} ms, commits in ${transactionMs} ms`
}

function resultOf(found: readonly Run[], bundleBytes: number, zip: number): ColdStartResult {
  const of = (figure: (run: Run) => number) => spreadOf(found.map(figure))
  const coldMs = of(({ cold }) => cold.sinceStartMs)
  const bareNodeMs = of((run) => run.bareNodeMs)
  const kafkajs = {
    processMs: of((run) => run.kafkajs.sinceStartMs),
    connectMs: of((run) => run.kafkajs.connectMs),
    transactionMs: of((run) => run.kafkajs.transactionMs),
    cpuMs: of((run) => run.kafkajs.cpuMs),
  }
  const bareMs = bareNodeMs.median + kafkajs.connectMs.median + kafkajs.transactionMs.median
  return {
    ratio: rounded(coldMs.median / bareMs),
    ratioVsKafkajsProcess: rounded(coldMs.median / kafkajs.processMs.median),
    relay: {
      bundleBytes,
      zipBytes: zip,
      moduleLoadMs: of(({ cold }) => cold.loadMs),
      coldMs,
      coldCpuMs: of(({ cold }) => cold.cpuMs),
      firstInvocationMs: of(({ cold }) => cold.handleMs),
      warmInvocationMs: of(({ warmMs }) => warmMs),
      warmInvocationWithoutWorkMs: of(({ noWorkMs }) => noWorkMs),
    },
    bareNodeMs,
    kafkajs,
    workload: { recordsPerWindow, runs: found.length },
  }
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: rounded(median(values)),
  min: rounded(Math.min(...values)),
  max: rounded(Math.max(...values)),
})
