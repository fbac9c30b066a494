import { type Deadline, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { longestTimeoutMs } from '../transaction/describe.ts'
import { knownTransactions, openProducersOf } from '../transaction/hanging.ts'
import { type OpenProducer, secondLookMs, standsStill } from '../transaction/judge-producer.ts'
import type { LaneId } from './lane-id.ts'
import type { Look } from './look.ts'
import type { RelayDeployment } from './runtime.ts'

/** What the questions take; with less time than that none is asked. */
const questionsMs = 500
/** What they may take at most; a lane that cannot be judged in that time is not blocked as far as anybody knows. */
const judgeMs = 5_000

/** R15: named, answered with failure and looked at anew at each ring; neither a stop nor an endless wait. */
export async function sourceBlocked(
  deployment: RelayDeployment,
  id: LaneId,
  what: string,
  positions: readonly (readonly [number, bigint])[],
  deadline: Deadline,
): Promise<RelayError> {
  const { transactionalId: lane, topic } = id
  const places = positions.map(([partition]) => ({ topic, partition }))
  const holders = (await openProducers(deployment, places, deadline)).map(holderText)
  const where = positions.map(([partition, position]) => `partition ${partition} at ${position}`).join(', ')
  const who = holders.length > 0 ? `held by ${holders.join(', ')}` : 'no open producer is known for it'
  const message = `lane ${lane}: ${what} the last stable offset (${where}), behind an open transaction, ${who}`
  const fix = 'it is relayed once that ends, by itself or, if it hangs, by fencepost abort-hanging'
  return new RelayError('SOURCE_BLOCKED', `${message}; ${fix}`, { context: { lane, holders } })
}

/**
 * A pull that has nothing to read asks this: are readers held back by a transaction that is older than any may become (R15)?
 * Its age is its coordinator's word where this user may hear it, else that of its last record, looked at twice: a producer
 * whose records are dated back looks old while it works, but does not stand still. null: not as far as the brokers will say.
 */
export async function blockedForLong(
  deployment: RelayDeployment,
  id: LaneId,
  { heldBack, stableUntil }: Look,
  deadline: Deadline,
): Promise<RelayError | null> {
  if (heldBack.length === 0 || deadline.remainingMs() <= secondLookMs + questionsMs) return null
  const places = heldBack.map((partition) => ({ topic: id.topic, partition }))
  const soon = sooner(deployment.clock, deadline, judgeMs)
  const first = await overdue(deployment, places, soon)
  if (first.length === 0) return null
  await deployment.clock.sleep(secondLookMs)
  const second = await openProducers(deployment, places, soon)
  const held = first.filter((one) => second.some((later) => standsStill(one, later)))
  const at = [...stableUntil].filter(([partition]) => held.some((one) => one.partition === partition))
  if (at.length === 0) return null
  return sourceBlocked(deployment, id, 'for longer than any transaction may last records lie above', at, deadline)
}

async function overdue(deployment: RelayDeployment, places: readonly TopicPartition[], deadline: Deadline) {
  const { cluster, clock } = deployment
  const open = await openProducers(deployment, places, deadline)
  if (open.length === 0) return []
  const longestMs = await longestTimeoutMs(cluster, deadline).catch(() => Number.POSITIVE_INFINITY)
  const old = open.filter(({ lastTimestampMs }) => clock.now() - lastTimestampMs > longestMs)
  if (old.length === 0) return []
  const ids = old.map(({ producerId }) => producerId)
  const known = await knownTransactions(cluster, ids, deadline).catch(() => [])
  const isYoung = (one: OpenProducer) =>
    known.some(
      ({ producerIds, partitions, startedAtMs }) =>
        producerIds.includes(one.producerId) && partitions.has(tpKey(one)) && clock.now() - startedAtMs <= longestMs,
    )
  return old.filter((one) => !isYoung(one))
}

/** Of those partitions whose leader says (KIP-664). */
async function openProducers(
  { cluster }: RelayDeployment,
  places: readonly TopicPartition[],
  deadline: Deadline,
): Promise<readonly OpenProducer[]> {
  const answers = await Promise.allSettled(places.map((place) => openProducersOf(cluster, place, deadline)))
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

const holderText = ({ producerId, producerEpoch, startOffset, partition }: OpenProducer): string =>
  `producer ${producerId} epoch ${producerEpoch} since offset ${startOffset} of partition ${partition}`
