/**
 * Our relay as it is deployed: the real handlers over the real container, one Lambda execution environment a process.
 * Everything that is measured is seen by observers from outside.
 */
import { randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import { pullHandler } from '../../functions/pull.ts'
import { relayHandler } from '../../functions/relay.ts'
import { bytes, defineRelay, topic } from '../../lib/index.ts'
import { createContainer } from '../../lib/lambda/container.ts'
import { type Resources, resourcesNow, resourcesSince } from '../resources.ts'
import { serve } from '../subject.ts'
import { Observed, observedContainer } from './observed-container.ts'

export type RelayQuestion =
  /** Relay all that is in the log, as the function behind a schedule does. */
  | { readonly do: 'drain' }
  /** One event of an event source mapping. */
  | { readonly do: 'ring'; readonly event: unknown }

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

const functionTimeoutMs = 600_000

const { BENCH_SOURCE = '', BENCH_OUTPUT = '' } = process.env
const relay = defineRelay({
  name: 'copy',
  source: topic(BENCH_SOURCE, bytes()),
  outputs: { copied: topic(BENCH_OUTPUT, bytes()) },
  transform: (record, { emit }) => emit.copied(record.value),
})
const observed = new Observed()
const container = observedContainer(createContainer(relay), observed)
const pull = pullHandler(relay, container)
const ring = relayHandler(relay, container)

serve((question: RelayQuestion) => (question.do === 'drain' ? drain() : ringOnce(question.event)))

/** The container is ready before the clock starts: cold starts are another benchmark's. */
async function drain(): Promise<DrainAnswer> {
  await container.ready(context())
  const before = resourcesNow()
  observed.reset()
  const beganMs = performance.now()
  await pull({}, context())
  const seconds = (performance.now() - beganMs) / 1000
  return { seconds, windowsMs: observed.windowsMs, ...resourcesSince(before) }
}

async function ringOnce(event: unknown): Promise<RingAnswer> {
  observed.reset()
  const beganMs = performance.now()
  await ring(event, context())
  const toAnswerMs = performance.now() - beganMs
  const { committedAtMs, fenceWrites, barriers } = observed
  return { toCommitMs: committedAtMs === null ? null : committedAtMs - beganMs, toAnswerMs, fenceWrites, barriers }
}

function context(): Context {
  const endsAtMs = Date.now() + functionTimeoutMs
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'copy',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:copy',
    memoryLimitInMB: '512',
    logGroupName: '/aws/lambda/copy',
    logStreamName: `bench/${process.pid}`,
    getRemainingTimeInMillis: () => endsAtMs - Date.now(),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}
