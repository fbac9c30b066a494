import { createTopics } from '../lib/local/topics.ts'
import { startContender } from './contenders.ts'
import type { LatencyOptions } from './latency.ts'
import { assertDelivered, checkDelivery, NumberedRecords } from './numbered-records.ts'
import type { RelayQuestion, RingAnswer } from './ours/relay-subject.ts'
import { quantile, rounded } from './statistics.ts'
import type { Subject } from './subject.ts'
import type { Surroundings } from './surroundings.ts'

export interface HopResult {
  /** From the call of the handler to the commit. */
  readonly msP50: number
  readonly msP99: number
  readonly toAnswerMsP50: number
  /** Counted where they leave for the fence table. */
  readonly fenceWritesPerInvocation: number
  readonly fenceWritesPerNoopBell: number
  /** InitProducerId, counted where it leaves for the broker. */
  readonly barriersPerInvocation: number
  readonly barriersPerNoopBell: number
  readonly workload: { readonly recordsPerWindow: number; readonly containers: number; readonly windows: number }
}

const outputPartitions = 4
const recordsPerWindow = 100
const containers = 2
const warmUpShare = 0.2
const tellEvery = 100

/**
 * The lane hops: each bell goes to the other of two warm containers than the last one, so that each of them finds the
 * fence record in another's name and goes through the barrier. After each bell the same one is rung again, where the next
 * will be: there is nothing to do any more, which must cost neither a fence write nor a barrier.
 */
export async function hop(place: Surroundings, { windows, signal, say }: LatencyOptions): Promise<HopResult> {
  const job = { source: 'source', output: 'output', prefix: 'hop' }
  await createTopics(
    place.cluster,
    new Map([
      [job.source, 1],
      [job.output, outputPartitions],
    ]),
  )
  const start = (_: unknown, index: number) =>
    startContender('relay', { ...job, name: `container-${index + 1}` }, place, signal)
  const subjects = await Promise.all(Array.from({ length: containers }, start))
  try {
    const writer = await NumberedRecords.open(place.cluster)
    const warmUp = Math.ceil(windows * warmUpShare)
    say(`warming up: ${warmUp} windows of ${recordsPerWindow} records each`)
    const relayed: RingAnswer[] = []
    const again: RingAnswer[] = []
    for (let window = 0; window < warmUp + windows; window++) {
      const from = window * recordsPerWindow
      await writer.append(job.source, 0, from, from + recordsPerWindow)
      relayed.push(await ring(subjects, window, from))
      again.push(await ring(subjects, window + 1, from))
      if (window >= warmUp && (window - warmUp + 1) % tellEvery === 0)
        say(`${window - warmUp + 1} of ${windows} windows`)
    }
    const written = relayed.length * recordsPerWindow
    assertDelivered('a lane that hops', written, await checkDelivery(place.cluster, job.output, written))
    return resultOf(relayed.slice(warmUp), again.slice(warmUp))
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()))
  }
}

async function ring(subjects: readonly Subject[], turn: number, from: number): Promise<RingAnswer> {
  const question: RelayQuestion = { do: 'ring', from, until: from + recordsPerWindow }
  const subject = subjects[turn % subjects.length] as Subject // the remainder is an index of it
  return subject.ask<RingAnswer>(question)
}

function resultOf(relayed: readonly RingAnswer[], again: readonly RingAnswer[]): HopResult {
  const toCommit = relayed.map(({ toCommitMs }) => toCommitMs ?? Number.NaN)
  const perBell = (answers: readonly RingAnswer[], count: 'fenceWrites' | 'barriers') =>
    rounded(answers.reduce((sum, answer) => sum + answer[count], 0) / answers.length, 3)
  return {
    msP50: rounded(quantile(toCommit, 0.5)),
    msP99: rounded(quantile(toCommit, 0.99)),
    toAnswerMsP50: rounded(
      quantile(
        relayed.map(({ toAnswerMs }) => toAnswerMs),
        0.5,
      ),
    ),
    fenceWritesPerInvocation: perBell(relayed, 'fenceWrites'),
    fenceWritesPerNoopBell: perBell(again, 'fenceWrites'),
    barriersPerInvocation: perBell(relayed, 'barriers'),
    barriersPerNoopBell: perBell(again, 'barriers'),
    workload: { recordsPerWindow, containers, windows: relayed.length },
  }
}
