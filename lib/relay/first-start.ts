import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { listOffsets } from '../kafka/offsets.ts'
import { type Bell, ringsFor } from './bell.ts'
import type { LaneId } from './lane-id.ts'
import type { RelayRuntime } from './runtime.ts'

/**
 * Resolves the start policy to numbers, once: they are written as F and committed before the first Produce, so that
 * the policy is never evaluated again over a log that has moved on (P2). Partitions that join a lane later start at
 * their earliest record, whatever the policy, so that nothing is skipped (as Flink's source does, FLIP-288).
 */
export async function firstPositions(
  runtime: RelayRuntime,
  id: LaneId,
  partitions: readonly number[],
  bell: Bell,
  later: boolean,
  deadline: Deadline,
): Promise<[number, bigint][]> {
  const { startAt } = runtime.relay
  if (later || startAt === 'earliest') return bounds(runtime, id, partitions, 'earliest', deadline)
  if (startAt === 'event') return fromBell(runtime, id, partitions, bell, deadline)
  return fromTimestamp(runtime, id, partitions, startAt.timestampMs, deadline)
}

/** The first offset that the event carries; partitions that it does not name start at their earliest record. */
async function fromBell(
  runtime: RelayRuntime,
  id: LaneId,
  partitions: readonly number[],
  bell: Bell,
  deadline: Deadline,
): Promise<[number, bigint][]> {
  const rung = partitions.flatMap((partition): [number, bigint][] => {
    const entry = ringsFor(bell, partition)
    return entry ? [[partition, entry.firstOffset]] : []
  })
  const silent = partitions.filter((partition) => !ringsFor(bell, partition))
  return [...rung, ...(silent.length > 0 ? await bounds(runtime, id, silent, 'earliest', deadline) : [])]
}

/** The first record at or after the moment; the end of the log where there is none yet. */
async function fromTimestamp(
  runtime: RelayRuntime,
  id: LaneId,
  partitions: readonly number[],
  timestampMs: number,
  deadline: Deadline,
): Promise<[number, bigint][]> {
  const found = await bounds(runtime, id, partitions, timestampMs, deadline)
  const none = found.filter(([, offset]) => offset < 0n).map(([partition]) => partition)
  const ends = none.length > 0 ? await bounds(runtime, id, none, 'latest', deadline) : []
  return [...found.filter(([, offset]) => offset >= 0n), ...ends]
}

async function bounds(
  { cluster }: RelayRuntime,
  { topic }: LaneId,
  partitions: readonly number[],
  at: 'earliest' | 'latest' | number,
  deadline: Deadline,
): Promise<[number, bigint][]> {
  const asks = partitions.map((partition) => ({ topic, partition }))
  const answers = await listOffsets(cluster, asks, { at, isolation: 'read_committed' }, deadline)
  return answers.map((answer): [number, bigint] => {
    if ('offset' in answer) return [answer.partition, answer.offset]
    throw new RelayError('BROKER_ERROR', `${topic} partition ${answer.partition}: where it begins cannot be learnt`, {
      cause: answer.error,
    })
  })
}
