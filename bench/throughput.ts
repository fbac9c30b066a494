import { createTopics } from '../lib/local/topics.ts'
import { startContender } from './contenders.ts'
import { assertDelivered, checkDelivery, NumberedRecords, valueBytes } from './numbered-records.ts'
import type { DrainAnswer, RelayQuestion } from './ours/relay-subject.ts'
import type { KafkajsQuestion } from './peers/kafkajs-subject.ts'
import { median, quantile, rounded, spread } from './statistics.ts'
import type { Surroundings } from './surroundings.ts'

export interface ThroughputOptions {
  readonly runs: number
  readonly records: number
  /** Fewer: it is slow, and its rate does not depend on how long it runs. */
  readonly kafkajsRecords: number
  readonly signal: AbortSignal
  say(line: string): void
}

/** Medians of the runs. */
export interface ThroughputFigures {
  readonly records: number
  readonly recordsPerSecond: number
  readonly windowMsP50: number
  /** The largest of any run. */
  readonly rssMiB: number
  /** Per million records. */
  readonly cpuSeconds: number
  readonly spread: number
  readonly runs: readonly number[]
}

export interface ThroughputResult {
  readonly ratioVsKafkajs: number
  /** Median of the ratios of neighbouring runs: a machine that gets busier meanwhile changes it least. */
  readonly ratioPairwise: number
  readonly relay: ThroughputFigures
  readonly kafkajs: ThroughputFigures
  readonly workload: { readonly valueBytes: number; readonly partitions: number }
}

const partitions = 4

/**
 * From fetch to commit: both relay a full log of keyed records to another topic of as many partitions, one after the
 * other on the same broker, each time in a new process with a new group and a new output, whose content is counted.
 */
export async function throughput(place: Surroundings, options: ThroughputOptions): Promise<ThroughputResult> {
  const { runs, records, kafkajsRecords, say } = options
  const sources = {
    relay: { topic: 'source.relay', records },
    kafkajs: { topic: 'source.kafkajs', records: kafkajsRecords },
  }
  await prepare(place, Object.values(sources), say)
  const found = { relay: [] as DrainAnswer[], kafkajs: [] as DrainAnswer[] }
  for (let run = 0; run <= runs; run++) {
    for (const kind of ['relay', 'kafkajs'] as const) {
      const answer = await oneRun(place, kind, run, sources[kind], options)
      if (run === 0) continue // the broker is cold: whoever goes first would pay for both
      const rate = Math.round(sources[kind].records / answer.seconds).toLocaleString('en')
      say(`run ${run} of ${runs}: ${kind} ${rate} records/s, ${Math.round(answer.rssMiB)} MiB, every record once`)
      found[kind].push(answer)
    }
  }
  return resultOf(figuresOf(found.relay, records), figuresOf(found.kafkajs, kafkajsRecords))
}

interface Source {
  readonly topic: string
  readonly records: number
}

async function prepare({ cluster }: Surroundings, sources: readonly Source[], say: (line: string) => void) {
  await createTopics(cluster, new Map(sources.map(({ topic }) => [topic, partitions])))
  const writer = await NumberedRecords.open(cluster)
  for (const { topic, records } of sources) {
    say(`writing ${records.toLocaleString('en')} records of ${valueBytes} bytes to ${partitions} partitions`)
    await writer.fill(topic, partitions, records)
  }
}

async function oneRun(
  place: Surroundings,
  kind: 'relay' | 'kafkajs',
  run: number,
  source: Source,
  { signal }: ThroughputOptions,
): Promise<DrainAnswer> {
  const name = `${kind}-${run}`
  const output = `output.${name}`
  const { topic, records } = source
  await createTopics(place.cluster, new Map([[output, partitions]]))
  const subject = await startContender(kind, { name, source: topic, output, prefix: name }, place, signal)
  try {
    const question: RelayQuestion & KafkajsQuestion = { do: 'drain', records, partitions }
    const answer = await subject.ask<DrainAnswer>(question)
    assertDelivered(name, records, await checkDelivery(place.cluster, output, records))
    return answer
  } finally {
    await subject.stop()
  }
}

function figuresOf(answers: readonly DrainAnswer[], records: number): ThroughputFigures {
  const rates = answers.map(({ seconds }) => records / seconds)
  return {
    records,
    recordsPerSecond: Math.round(median(rates)),
    windowMsP50: rounded(
      quantile(
        answers.flatMap(({ windowsMs }) => windowsMs),
        0.5,
      ),
    ),
    rssMiB: Math.round(Math.max(...answers.map(({ rssMiB }) => rssMiB))),
    cpuSeconds: rounded(median(answers.map(({ cpuSeconds }) => (cpuSeconds * 1e6) / records))),
    spread: rounded(spread(rates)),
    runs: rates.map(Math.round),
  }
}

function resultOf(relay: ThroughputFigures, kafkajs: ThroughputFigures): ThroughputResult {
  const pairs = relay.runs.map((rate, run) => rate / (kafkajs.runs[run] ?? Number.NaN))
  return {
    ratioVsKafkajs: rounded(relay.recordsPerSecond / kafkajs.recordsPerSecond),
    ratioPairwise: rounded(median(pairs)),
    relay,
    kafkajs,
    workload: { valueBytes, partitions },
  }
}
