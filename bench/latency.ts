import { createTopics } from '../lib/local/topics.ts'
import { startContender } from './contenders.ts'
import { assertDelivered, checkDelivery } from './numbered-records.ts'
import type { RelayQuestion, RingAnswer } from './ours/relay-subject.ts'
import type { KafkajsQuestion, WindowsAnswer } from './peers/kafkajs-subject.ts'
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
  readonly ratioVsKafkajs: { readonly p50: number; readonly p99: number; readonly mean: number }
  /** From the call of the handler to the commit, and to its answer. */
  readonly relay: LatencyFigures & { readonly toAnswer: LatencyFigures }
  /** From the begin of the transaction to the end of its commit; its records are in hand. */
  readonly kafkajs: LatencyFigures
  readonly workload: { readonly recordsPerWindow: number; readonly outputPartitions: number; readonly windows: number }
}

const outputPartitions = 4
const recordsPerWindow = 100
const warmUpShare = 0.3
const windowsPerTurn = 50

/**
 * Window after window of a hundred records, the next as soon as the last is done. Ours: a bell rings, the handler looks,
 * takes the fence, fetches, commits. kafkajs: transaction, send, sendOffsets, commit; its records are in hand, it looks up
 * nothing and takes no fence. Both warm, in processes of their own, in turns of 50 windows on the same broker, so that
 * whatever else the machine does meets both.
 */
export async function latency(place: Surroundings, { windows, signal, say }: LatencyOptions): Promise<LatencyResult> {
  const topics = ['relay', 'kafkajs'].flatMap((name) => [
    [`source.${name}`, 1] as const,
    [`output.${name}`, outputPartitions] as const,
  ])
  await createTopics(place.cluster, new Map(topics))
  const start = (kind: 'relay' | 'kafkajs') =>
    startContender(
      kind,
      { name: kind, source: `source.${kind}`, output: `output.${kind}`, prefix: kind },
      place,
      signal,
    )
  const ours = new Turns<RingAnswer>(await start('relay'))
  const theirs = new Turns<WindowsAnswer[number]>(await start('kafkajs'))
  try {
    const warmUp = Math.ceil(windows * warmUpShare)
    say(`warming up: ${warmUp} windows of ${recordsPerWindow} records each`)
    for (let done = 0; done < warmUp + windows; done += windowsPerTurn) {
      await ours.take(windowsPerTurn)
      await theirs.take(windowsPerTurn)
      if (done >= warmUp) say(`${Math.min(windows, done - warmUp + windowsPerTurn)} of ${windows} windows`)
    }
    for (const [name, { records }] of Object.entries({ relay: ours, kafkajs: theirs })) {
      assertDelivered(name, records, await checkDelivery(place.cluster, `output.${name}`, records))
    }
    return resultOf(ours.found.slice(-windows), theirs.found.slice(-windows))
  } finally {
    await Promise.all([ours.subject.stop(), theirs.subject.stop()])
  }
}

class Turns<Found> {
  readonly subject: Subject
  readonly found: Found[] = []

  constructor(subject: Subject) {
    this.subject = subject
  }

  get records(): number {
    return this.found.length * recordsPerWindow
  }

  async take(count: number): Promise<void> {
    const question: RelayQuestion & KafkajsQuestion = {
      do: 'windows',
      from: this.records,
      count,
      records: recordsPerWindow,
    }
    this.found.push(...(await this.subject.ask<Found[]>(question)))
  }
}

function resultOf(ours: readonly RingAnswer[], theirs: WindowsAnswer): LatencyResult {
  const relay = figuresOf(ours.map(({ toCommitMs }) => toCommitMs ?? Number.NaN))
  const kafkajs = figuresOf(theirs.map(({ toCommitMs }) => toCommitMs))
  return {
    ratioVsKafkajs: {
      p50: rounded(kafkajs.msP50 / relay.msP50),
      p99: rounded(kafkajs.msP99 / relay.msP99),
      mean: rounded(kafkajs.msMean / relay.msMean),
    },
    relay: { ...relay, toAnswer: figuresOf(ours.map(({ toAnswerMs }) => toAnswerMs)) },
    kafkajs,
    workload: { recordsPerWindow, outputPartitions, windows: ours.length },
  }
}

const figuresOf = (ms: readonly number[]): LatencyFigures => ({
  msP10: rounded(quantile(ms, 0.1)),
  msP50: rounded(quantile(ms, 0.5)),
  msP90: rounded(quantile(ms, 0.9)),
  msP99: rounded(quantile(ms, 0.99)),
  msMax: rounded(Math.max(...ms)),
  msMean: rounded(ms.reduce((sum, one) => sum + one, 0) / ms.length),
})
