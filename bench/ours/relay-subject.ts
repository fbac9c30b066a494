/**
 * Our relay as it is deployed: the real handlers over the real container, one Lambda execution environment a process.
 * Everything that is measured is seen by observers from outside.
 */
import { pullHandler } from '../../functions/pull.ts'
import { relayHandler } from '../../functions/relay.ts'
import { createContainer } from '../../lib/lambda/container.ts'
import { bellEvent } from '../bell-event.ts'
import { type NumberedRecords, openFeed } from '../numbered-records.ts'
import { type Resources, resourcesNow, resourcesSince } from '../resources.ts'
import { serve } from '../serve.ts'
import { copyRelay } from './copy-relay.ts'
import { lambdaContext } from './lambda-context.ts'
import { Observed, observedContainer } from './observed-container.ts'

export type RelayQuestion =
  /** Relay all that is in the log, as the function behind a schedule does. */
  | { readonly do: 'drain' }
  /** Write windows of `records` records from number `from` on to partition 0 and ring for each, one after another. */
  | { readonly do: 'windows'; readonly from: number; readonly count: number; readonly records: number }
  /** The event of an event source mapping for records that are in the source already. */
  | { readonly do: 'ring'; readonly from: number; readonly until: number }

export interface DrainAnswer extends Resources {
  readonly seconds: number
  /** Read, transform and commit of each window. */
  readonly windowsMs: readonly number[]
}

export interface RingAnswer {
  /** From the call of the handler to the commit of its last window; null when there was nothing to relay. */
  readonly toCommitMs: number | null
  readonly toAnswerMs: number
  readonly fenceWrites: number
  readonly barriers: number
}

const { BENCH_SOURCE = '', BENCH_OUTPUT = '', FENCEPOST_BROKERS = '' } = process.env
const relay = copyRelay({ source: BENCH_SOURCE, output: BENCH_OUTPUT })
const observed = new Observed()
const container = observedContainer(createContainer(relay), observed)
const pull = pullHandler(relay, container)
const bell = relayHandler(relay, container)
let writer: Promise<NumberedRecords> | null = null

serve((question: RelayQuestion) => {
  switch (question.do) {
    case 'drain':
      return drain()
    case 'windows':
      return windows(question)
    case 'ring':
      return ring(question.from, question.until)
  }
})

/** The clock runs from the first fetch to the last commit, as that of kafkajs: cold starts are another benchmark's. */
async function drain(): Promise<DrainAnswer> {
  await container.ready(lambdaContext())
  const before = resourcesNow()
  observed.reset()
  await pull({}, lambdaContext())
  const { beganAtMs, committedAtMs, windowsMs } = observed
  const seconds = ((committedAtMs ?? Number.NaN) - (beganAtMs ?? Number.NaN)) / 1000
  return { seconds, windowsMs, ...resourcesSince(before) }
}

/** The next records arrive while the function still answers for the last: no bell waits for its records. */
async function windows({ from, count, records }: Extract<RelayQuestion, { do: 'windows' }>): Promise<RingAnswer[]> {
  writer ??= openFeed(FENCEPOST_BROKERS)
  const feed = await writer
  const found: RingAnswer[] = []
  let arrived = feed.append(BENCH_SOURCE, 0, from, from + records)
  for (let first = from; found.length < count; first += records) {
    const next = first + records
    await arrived
    observed.onCommit = () => {
      if (found.length + 1 < count) arrived = feed.append(BENCH_SOURCE, 0, next, next + records)
    }
    found.push(await ring(first, next))
  }
  return found
}

async function ring(from: number, until: number): Promise<RingAnswer> {
  const event = bellEvent(BENCH_SOURCE, from, until)
  observed.reset()
  const beganMs = performance.now()
  await bell(event, lambdaContext())
  const toAnswerMs = performance.now() - beganMs
  const { committedAtMs, fenceWrites, barriers } = observed
  return { toCommitMs: committedAtMs === null ? null : committedAtMs - beganMs, toAnswerMs, fenceWrites, barriers }
}
