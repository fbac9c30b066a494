import { createTopics } from '../lib/local/topics.ts'
import { assertDelivered, checkDelivery, NumberedRecords, valueBytes } from './numbered-records.ts'
import type { DrainAnswer, RelayQuestion } from './ours/relay-subject.ts'
import type { KafkajsQuestion } from './peers/kafkajs-subject.ts'
import { median, quantile, rounded, spread } from './statistics.ts'
import { startSubject } from './subject.ts'
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
 * From fetch to commit: both relay a full log of keyless records to another topic of as many partitions, one after the
 * other on the same broker, each time in a new process with a new group and a new output, whose content is counted.
 */
export async function throughput(place: Surroundings, options: ThroughputOptions): Promise<ThroughputResult> {
  const { runs, records, kafkajsRecords, say } = options
  const sources = new Map([
    ['relay', { topic: 'source', records }],
    ['kafkajs', { topic: 'source.kafkajs', records: kafkajsRecords }],
  ])
  say(`writing ${records.toLocaleString('en')} records of ${valueBytes} bytes to ${partitions} partitions`)
  await createTopics(place.cluster, new Map([...sources.values()].map(({ topic }) => [topic, partitions])))
  const writer = await NumberedRecords.open(place.cluster)
  for (const source of sources.values()) await writer.fill(source.topic, partitions, source.records)
  const found = { relay: [] as DrainAnswer[], kafkajs: [] as DrainAnswer[] }
  for (let run = 1; run <= runs; run++) {
    for (const name of ['relay', 'kafkajs'] as const) {
      const source = sources.get(name) ?? { topic: '', records: 0 }
      const answer = await oneRun(place, name, `${name}-${run}`, source.topic, source.records, options)
      const rate = Math.round(source.records / answer.seconds).toLocaleString('en')
      say(`run ${run} of ${runs}: ${name} ${rate} records/s, ${Math.round(answer.rssMiB)} MiB, every record once`)
      found[name].push(answer)
    }
  }
  return resultOf(figuresOf(found.relay, records), figuresOf(found.kafkajs, kafkajsRecords))
}

const modules = { relay: 'ours/relay-subject.ts', kafkajs: 'peers/kafkajs-subject.ts' }

async function oneRun(
  place: Surroundings,
  name: keyof typeof modules,
  run: string,
  source: string,
  records: number,
  { signal }: ThroughputOptions,
): Promise<DrainAnswer> {
  const output = `output.${run}`
  await createTopics(place.cluster, new Map([[output, partitions]]))
  const env = { ...place.env, BENCH_SOURCE: source, BENCH_OUTPUT: output, BENCH_NAME: run, FENCEPOST_PREFIX: run }
  const subject = startSubject(modules[name], run, place.dir, env, signal)
  try {
    const question: RelayQuestion | KafkajsQuestion = { do: 'drain', records, partitions }
    const answer = await subject.ask<DrainAnswer>(question)
    assertDelivered(run, records, await checkDelivery(place.cluster, output, records))
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
