/** The relay by kafkajs in a process of its own, asked by the benchmark. */
import { Kafka, logLevel } from 'kafkajs'
import { keyOf, type NumberedRecords, numberedValue, openFeed } from '../numbered-records.ts'
import type { DrainAnswer } from '../ours/relay-subject.ts'
import { resourcesNow, resourcesSince } from '../resources.ts'
import { serve } from '../serve.ts'
import { KafkajsRelay, type KafkajsWindow } from './kafkajs-relay.ts'

export type KafkajsQuestion =
  /** Relay so many records of so many partitions, by a consumer. */
  | { readonly do: 'drain'; readonly records: number; readonly partitions: number }
  /** Write windows of `records` records from number `from` on to partition 0; a consumer relays each. */
  | ({ readonly do: 'windows' } & Windows)
  /** The same with the records in hand: nothing is written or fetched. */
  | ({ readonly do: 'windows in hand' } & Windows)

export interface Windows {
  readonly from: number
  readonly count: number
  readonly records: number
}

/** From the acknowledgement of a window's records, or with them in hand from the begin of the transaction, to the end of its commit. */
export type WindowsAnswer = readonly { readonly toCommitMs: number }[]

const { BENCH_SOURCE = '', BENCH_OUTPUT = '', BENCH_NAME = '', FENCEPOST_BROKERS = '' } = process.env
const kafka = new Kafka({ clientId: BENCH_NAME, brokers: FENCEPOST_BROKERS.split(','), logLevel: logLevel.ERROR })
const relay = new KafkajsRelay(kafka, { source: BENCH_SOURCE, output: BENCH_OUTPUT, name: BENCH_NAME })

let consuming: Promise<Consuming> | null = null

serve((question: KafkajsQuestion) => {
  switch (question.do) {
    case 'drain':
      return drain(question)
    case 'windows':
      return windows(question)
    case 'windows in hand':
      return windowsInHand(question)
  }
})

/** Clock and CPU time count from the first batch on: joining a group is no part of the work. */
async function drain({ records, partitions }: Extract<KafkajsQuestion, { do: 'drain' }>): Promise<DrainAnswer> {
  const found: KafkajsWindow[] = []
  const finished = Promise.withResolvers<void>()
  let left = records
  let cpuBefore: number | null = null
  const onBegin = (): void => {
    cpuBefore ??= resourcesNow()
  }
  const consumer = await relay.run(partitions, onBegin, (window) => {
    found.push(window)
    left -= window.records
    if (left <= 0) finished.resolve()
  })
  await finished.promise
  const resources = resourcesSince(cpuBefore ?? Number.NaN)
  await consumer.disconnect()
  const beganMs = Math.min(...found.map(({ beganMs }) => beganMs))
  const endedMs = Math.max(...found.map(({ endedMs }) => endedMs))
  const windowsMs = found.map(({ beganMs, endedMs }) => endedMs - beganMs)
  return { seconds: (endedMs - beganMs) / 1000, windowsMs, ...resources }
}

async function windows({ from, count, records }: Windows): Promise<WindowsAnswer> {
  consuming ??= startConsuming()
  const { feed, committed } = await consuming
  const found: { toCommitMs: number }[] = []
  for (let first = from; found.length < count; first += records) {
    await feed.append(BENCH_SOURCE, 0, first, first + records)
    const beganMs = performance.now()
    await committed(first + records)
    found.push({ toCommitMs: performance.now() - beganMs })
  }
  return found
}

interface Consuming {
  readonly feed: NumberedRecords
  /** Resolves when so many records were relayed. */
  committed(records: number): Promise<void>
}

async function startConsuming(): Promise<Consuming> {
  let relayed = 0
  let wanted = { records: 0, reached: () => {} }
  await relay.run(
    1,
    () => undefined,
    ({ records }) => {
      relayed += records
      if (relayed >= wanted.records) wanted.reached()
    },
  )
  const committed = (records: number) =>
    new Promise<void>((reached) => {
      wanted = { records, reached }
      if (relayed >= records) reached()
    })
  return { feed: await openFeed(FENCEPOST_BROKERS), committed }
}

async function windowsInHand({ from, count, records }: Windows): Promise<WindowsAnswer> {
  const found: { toCommitMs: number }[] = []
  for (let first = from; first < from + count * records; first += records) {
    const messages = Array.from({ length: records }, (_, index) => ({
      key: keyOf(first + index),
      value: numberedValue(first + index),
    }))
    const beganMs = performance.now()
    await relay.relay(0, messages, String(first + records), async () => undefined)
    found.push({ toCommitMs: performance.now() - beganMs })
  }
  return found
}
