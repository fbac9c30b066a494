import { createTopics } from '../lib/local/demo/topics.ts'
import { bellEvent } from './bell-event.ts'
import { assertDelivered, checkDelivery, NumberedRecords, numberedValue } from './numbered-records.ts'
import type { RelayQuestion, RingAnswer } from './ours/relay-subject.ts'
import type { KafkajsQuestion } from './peers/kafkajs-relay.ts'
import { quantile, rounded } from './statistics.ts'
import { startSubject } from './subject.ts'
import type { Surroundings } from './surroundings.ts'

export interface LatencyOptions {
  /** Windows that are measured; others before them warm up. */
  readonly windows: number
  readonly signal: AbortSignal
  say(line: string): void
}

export interface LatencyFigures {
  readonly msP50: number
  readonly msP99: number
  readonly msMax: number
  readonly windows: number
}

export interface LatencyResult {
  readonly ratioVsKafkajs: { readonly p50: number; readonly p99: number }
  readonly relay: LatencyFigures & { readonly toAnswerMsP50: number; readonly toAnswerMsP99: number }
  readonly kafkajs: LatencyFigures
  readonly workload: { readonly recordsPerWindow: number; readonly kafkajs: string }
}

const recordsPerWindow = 100
const partition = 0
const warmUpShare = 0.2
const windowsPerBlock = 50

/** A window's work: records `from` to `from + 100` have just been written, and their offsets are their numbers. */
type Work<Found> = (from: number) => Promise<Found>

/**
 * A hundred records arrive, a bell rings, they are relayed and committed; then the next hundred. Ours: from the call of
 * the handler with the event to the commit, with look, fence, fetch and all. kafkajs: from the begin of its transaction to
 * its commit, records in hand. Both warm, in processes of their own, in turns of 50 windows on the same broker.
 */
export async function latency(place: Surroundings, options: LatencyOptions): Promise<LatencyResult> {
  const { signal, say } = options
  const topics = ['source', 'output', 'source.kafkajs', 'output.kafkajs']
  await createTopics(place.cluster, new Map(topics.map((name) => [name, 1])))
  const relay = startSubject('ours/relay-subject.ts', 'relay', place.dir, envOf(place, 'source', 'output'), signal)
  const peerEnv = envOf(place, 'source.kafkajs', 'output.kafkajs')
  const kafkajs = startSubject('peers/kafkajs-relay.ts', 'kafkajs', place.dir, peerEnv, signal)
  try {
    const writer = await NumberedRecords.open(place.cluster)
    const ours = new Turns(writer, 'source', (from) => {
      const question: RelayQuestion = { do: 'ring', event: bellEvent('source', partition, from, values(from)) }
      return relay.ask<RingAnswer>(question)
    })
    const theirs = new Turns(writer, 'source.kafkajs', (from) => {
      const base64 = values(from).map((value) => value.toString('base64'))
      const question: KafkajsQuestion = { do: 'window', partition, firstOffset: from, values: base64 }
      return kafkajs.ask<{ readonly toCommitMs: number }>(question)
    })
    const warmUp = Math.ceil(options.windows * warmUpShare)
    say(`warming up: ${warmUp} windows of ${recordsPerWindow} records each`)
    for (const turns of [ours, theirs]) await turns.take(warmUp)
    for (const turns of [ours, theirs]) turns.found.length = 0
    while (ours.found.length < options.windows) {
      for (const turns of [ours, theirs])
        await turns.take(Math.min(windowsPerBlock, options.windows - turns.found.length))
      say(`${ours.found.length} of ${options.windows} windows`)
    }
    assertDelivered('the relay', ours.written, await checkDelivery(place.cluster, 'output', ours.written))
    assertDelivered('kafkajs', theirs.written, await checkDelivery(place.cluster, 'output.kafkajs', theirs.written))
    return resultOf(ours.found, theirs.found)
  } finally {
    await Promise.all([relay.stop(), kafkajs.stop()])
  }
}

class Turns<Found> {
  readonly found: Found[] = []
  written = 0
  readonly #writer: NumberedRecords
  readonly #source: string
  readonly #work: Work<Found>

  constructor(writer: NumberedRecords, source: string, work: Work<Found>) {
    this.#writer = writer
    this.#source = source
    this.#work = work
  }

  async take(windows: number): Promise<void> {
    for (let window = 0; window < windows; window++) {
      const from = this.written
      this.written += recordsPerWindow
      await this.#writer.append(this.#source, partition, from, this.written)
      this.found.push(await this.#work(from))
    }
  }
}

const values = (from: number): Buffer[] =>
  Array.from({ length: recordsPerWindow }, (_, index) => numberedValue(from + index))

const envOf = ({ env }: Surroundings, source: string, output: string) => {
  return { ...env, BENCH_SOURCE: source, BENCH_OUTPUT: output, BENCH_PREFIX: 'latency', FENCEPOST_PREFIX: 'latency' }
}

function resultOf(ours: readonly RingAnswer[], theirs: readonly { readonly toCommitMs: number }[]): LatencyResult {
  const relay = figuresOf(ours.map(({ toCommitMs }) => toCommitMs ?? Number.NaN))
  const kafkajs = figuresOf(theirs.map(({ toCommitMs }) => toCommitMs))
  const answers = ours.map(({ toAnswerMs }) => toAnswerMs)
  return {
    ratioVsKafkajs: { p50: rounded(kafkajs.msP50 / relay.msP50), p99: rounded(kafkajs.msP99 / relay.msP99) },
    relay: {
      ...relay,
      toAnswerMsP50: rounded(quantile(answers, 0.5)),
      toAnswerMsP99: rounded(quantile(answers, 0.99)),
    },
    kafkajs,
    workload: { recordsPerWindow, kafkajs: 'its records are in hand: no fetch, no fence' },
  }
}

const figuresOf = (ms: readonly number[]): LatencyFigures => ({
  msP50: rounded(quantile(ms, 0.5)),
  msP99: rounded(quantile(ms, 0.99)),
  msMax: rounded(Math.max(...ms)),
  windows: ms.length,
})
