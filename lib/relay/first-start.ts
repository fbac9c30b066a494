import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { listOffsets } from '../kafka/offsets.ts'
import { type Bell, ringsFor } from './bell.ts'
import type { LaneId } from './lane-id.ts'
import { partitionsAtFirstStart } from './partitions-at-start.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayDeployment } from './runtime.ts'

export interface FirstStart {
  readonly runtime: RelayDeployment
  readonly id: LaneId
  readonly topics: RelayTopics
  /** The lane itself has relayed other partitions before. */
  readonly started: boolean
}

type Positions = readonly [number, bigint][]

/**
 * Resolves the start policy to numbers, once: they are written as F and committed before the first Produce, so that
 * the policy is never evaluated again over a log that has moved on (P2). Partitions that the source got after the relay
 * first started begin at their earliest record, whatever the policy and whichever lane they are in, so that nothing is
 * skipped (as Flink's source does, FLIP-288).
 */
export async function firstPositions(
  start: FirstStart,
  partitions: readonly number[],
  bell: Bell,
  deadline: Deadline,
): Promise<Positions> {
  const { startAt } = start.runtime.relay
  if (startAt === 'earliest') return bounds(start, partitions, 'earliest', deadline)
  const atFirst = await partitionsAtFirstStart(start, deadline)
  const [there, later] = divide(partitions, (partition) => partition < atFirst)
  const chosen =
    startAt === 'event'
      ? await fromBell(start, there, bell, deadline)
      : await fromTimestamp(start, there, startAt.timestampMs, deadline)
  return [...chosen, ...(await bounds(start, later, 'earliest', deadline))]
}

/** The first offset that the event carries; partitions that it does not name start at their earliest record. */
async function fromBell(
  start: FirstStart,
  partitions: readonly number[],
  bell: Bell,
  deadline: Deadline,
): Promise<Positions> {
  const [rung, silent] = divide(partitions, (partition) => ringsFor(bell, partition) !== undefined)
  const first = (partition: number): bigint => ringsFor(bell, partition)?.firstOffset ?? 0n
  const named = rung.map((partition): [number, bigint] => [partition, first(partition)])
  return [...named, ...(await bounds(start, silent, 'earliest', deadline))]
}

/** The first record at or after the moment; the end of the log where there is none yet. */
async function fromTimestamp(
  start: FirstStart,
  partitions: readonly number[],
  timestampMs: number,
  deadline: Deadline,
): Promise<Positions> {
  const found = await bounds(start, partitions, timestampMs, deadline)
  const [some, none] = divide(found, ([, offset]) => offset >= 0n)
  const silent = none.map(([partition]) => partition)
  return [...some, ...(await bounds(start, silent, 'latest', deadline))]
}

async function bounds(
  { runtime, id }: FirstStart,
  partitions: readonly number[],
  at: 'earliest' | 'latest' | number,
  deadline: Deadline,
): Promise<Positions> {
  if (partitions.length === 0) return []
  const asks = partitions.map((partition) => ({ topic: id.topic, partition }))
  const answers = await listOffsets(runtime.cluster, asks, { at, isolation: 'read_committed' }, deadline)
  return answers.map((answer): [number, bigint] => {
    if ('offset' in answer) return [answer.partition, answer.offset]
    const message = `${id.topic} partition ${answer.partition}: where it begins cannot be learnt`
    throw new RelayError('BROKER_ERROR', message, { cause: answer.error })
  })
}

function divide<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}
