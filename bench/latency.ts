import { createTopics } from '../lib/local/topics.ts'
import { startContender } from './contenders.ts'
import { assertDelivered, checkDelivery } from './numbered-records.ts'
import type { RingAnswer } from './ours/relay-subject.ts'
import type { WindowsAnswer } from './peers/kafkajs-subject.ts'
import { quantile, rounded } from './statistics.ts'
import type { Subject } from './subject.ts'
import type { Surroundings } from './surroundings.ts'

export interface LatencyOptions {
  /** Windows that are measured; others before them warm up. */
  readonly windows: number
  readonly signal: AbortSignal
  say(line: string): void
}

export interface LatencyFigures {
  readonly msP10: number
  readonly msP50: number
  readonly msP90: number
  readonly msP99: number
  readonly msMax: number
  readonly msMean: number
}

export interface LatencyResult {
  readonly ratioVsKafkajs: Ratios
  /** From the call of the handler to the commit, and to its answer. */
  readonly relay: LatencyFigures & { readonly toAnswer: LatencyFigures }
  /** From the acknowledgement of the records in the source to the end of the commit. */
  readonly kafkajs: LatencyFigures
  /** The transaction alone: nothing is fetched. What is left of the job is less than ours. */
  readonly kafkajsInHand: LatencyFigures & { readonly ratio: Ratios }
  readonly workload: { readonly recordsPerWindow: number; readonly outputPartitions: number; readonly windows: number }
}

/** So many times as long as ours. */
interface Ratios {
  readonly p50: number
  readonly p99: number
  readonly mean: number
}

const outputPartitions = 4
const recordsPerWindow = 100
const warmUpShare = 0.3
const windowsPerTurn = 50

const contenders = {
  relay: { kind: 'relay', do: 'windows' },
  kafkajs: { kind: 'kafkajs', do: 'windows' },
  'kafkajs-in-hand': { kind: 'kafkajs', do: 'windows in hand' },
} as const

type Contender = keyof typeof contenders

/**
 * Window after window of a hundred records, the next as soon as the last is done. Ours: a bell rings when they are in the
 * source; the handler looks, takes the fence, fetches, commits. kafkajs: a consumer fetches them; transaction, send,
 * sendOffsets, commit; no fence. All warm, in processes of their own, in turns of 50 windows on the same broker, so that
 * whatever else the machine does meets all.
 */
export async function latency(place: Surroundings, { windows, signal, say }: LatencyOptions): Promise<LatencyResult> {
  const names = Object.keys(contenders) as Contender[]
  const topics = names.flatMap((name) => [
    [`source.${name}`, 1] as const,
    [`output.${name}`, outputPartitions] as const,
  ])
  await createTopics(place.cluster, new Map(topics))
  const turns: Turns[] = []
  try {
    for (const name of names) turns.push(await Turns.start(name, place, signal))
    const warmUp = Math.ceil(windows * warmUpShare)
    say(`warming up: ${warmUp} windows of ${recordsPerWindow} records each`)
    for (let done = 0; done < warmUp + windows; done += windowsPerTurn) {
      for (const contender of turns) await contender.take(windowsPerTurn)
      if (done >= warmUp) say(`${Math.min(windows, done - warmUp + windowsPerTurn)} of ${windows} windows`)
    }
    for (const { name, records } of turns) {
      assertDelivered(name, records, await checkDelivery(place.cluster, `output.${name}`, records))
    }
    return resultOf(turns.map(({ found }) => found.slice(-windows)))
  } finally {
    await Promise.all(turns.map(({ subject }) => subject.stop()))
  }
}

type Found = RingAnswer | WindowsAnswer[number]

class Turns {
  readonly name: Contender
  readonly subject: Subject
  readonly found: Found[] = []

  private constructor(name: Contender, subject: Subject) {
    this.name = name
    this.subject = subject
  }

  static async start(name: Contender, place: Surroundings, signal: AbortSignal): Promise<Turns> {
    const job = { name, source: `source.${name}`, output: `output.${name}`, prefix: name }
    return new Turns(name, await startContender(contenders[name].kind, job, place, signal))
  }

  get records(): number {
    return this.found.length * recordsPerWindow
  }

  async take(count: number): Promise<void> {
    const question = { do: contenders[this.name].do, from: this.records, count, records: recordsPerWindow }
    this.found.push(...(await this.subject.ask<Found[]>(question)))
  }
}

function resultOf([ours = [], theirs = [], inHand = []]: readonly Found[][]): LatencyResult {
  const relay = toCommit(ours)
  const kafkajs = toCommit(theirs)
  const kafkajsInHand = toCommit(inHand)
  const toAnswer = figuresOf(ours.map((found) => ('toAnswerMs' in found ? found.toAnswerMs : Number.NaN)))
  return {
    ratioVsKafkajs: ratios(kafkajs, relay),
    relay: { ...relay, toAnswer },
    kafkajs,
    kafkajsInHand: { ...kafkajsInHand, ratio: ratios(kafkajsInHand, relay) },
    workload: { recordsPerWindow, outputPartitions, windows: ours.length },
  }
}

const toCommit = (found: readonly Found[]): LatencyFigures =>
  figuresOf(found.map(({ toCommitMs }) => toCommitMs ?? Number.NaN))

const ratios = (theirs: LatencyFigures, ours: LatencyFigures): Ratios => ({
  p50: rounded(theirs.msP50 / ours.msP50),
  p99: rounded(theirs.msP99 / ours.msP99),
  mean: rounded(theirs.msMean / ours.msMean),
})

const figuresOf = (ms: readonly number[]): LatencyFigures => ({
  msP10: rounded(quantile(ms, 0.1)),
  msP50: rounded(quantile(ms, 0.5)),
  msP90: rounded(quantile(ms, 0.9)),
  msP99: rounded(quantile(ms, 0.99)),
  msMax: rounded(Math.max(...ms)),
  msMean: rounded(ms.reduce((sum, one) => sum + one, 0) / ms.length),
})
