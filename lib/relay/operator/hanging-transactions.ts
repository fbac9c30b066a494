import type { Deadline } from '../../clock.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import { type TopicPartition, tpKey } from '../../kafka/record.ts'
import { TransportError } from '../../kafka/transport.ts'
import { knownTransactions, openProducersOf, writeAbortMarker } from '../../transaction/hanging.ts'
import {
  isSameTransaction,
  judgeProducer,
  type OpenProducer,
  type ProducerVerdict,
  secondLookMs,
  standsStill,
} from '../../transaction/judge-producer.ts'
import type { RelayDeployment } from '../runtime.ts'

/** An open transaction that holds back readers, and what is to be thought of it. */
export interface FoundTransaction {
  readonly open: OpenProducer
  readonly verdict: ProducerVerdict
  /** Its transactional id is one of this relay's lanes: a bell or the sweep ends it. */
  readonly ours: boolean
}

export interface HangingQuestion {
  readonly topics: readonly string[]
  /** Younger ones may be on their way: at least the longest transaction timeout. */
  readonly olderThanMs: number
}

/**
 * Every open transaction in these topics, judged. Reads only.
 * @throws RelayError TOPIC_MISSING; BROKER_UNAVAILABLE, BROKER_ERROR when one partition or coordinator cannot be asked
 */
export async function findOpenTransactions(
  deployment: RelayDeployment,
  { topics, olderThanMs }: HangingQuestion,
  deadline: Deadline,
): Promise<readonly FoundTransaction[]> {
  const { cluster } = deployment
  const found = await cluster.topics(topics, deadline, 'fresh')
  const missing = topics.filter((topic) => !found.has(topic))
  if (missing.length > 0) throw new RelayError('TOPIC_MISSING', `topic ${missing.join(', ')} does not exist`)
  const places = [...found.values()].flatMap(({ name: topic, partitions }) =>
    partitions.map(({ partition }) => ({ topic, partition })),
  )
  return judgeAll(deployment, places, olderThanMs, deadline)
}

/** What became of a transaction that hung. */
export type Ended = { readonly kind: 'ended' } | { readonly kind: 'not ended'; readonly error: RelayError }

/**
 * Ends a transaction that was found hanging with an abort marker, if it still hangs when it is looked at once more: between
 * the two looks its coordinator may have moved, or an operator at another desk may have ended it. One that has grown is at
 * work, whoever may not tell us so (P9).
 */
export async function endHanging(
  deployment: RelayDeployment,
  { open }: FoundTransaction,
  olderThanMs: number,
  deadline: Deadline,
): Promise<Ended> {
  try {
    await deployment.clock.sleep(secondLookMs)
    const now = await judgeAll(deployment, [open], olderThanMs, deadline)
    const same = now.find((one) => isSameTransaction(open, one.open))
    if (!same) return { kind: 'ended' }
    if (!standsStill(open, same.open)) return notEnded(beingWritten)
    if (same.verdict.kind !== 'hanging') return notEnded(`it does not hang any more: ${verdictText(same)}`)
    await writeAbortMarker(deployment.cluster, same.open, deadline)
    const left = await openProducersOf(deployment.cluster, open, deadline)
    if (left.some((one) => isSameTransaction(open, one)))
      return notEnded('its marker was acknowledged and it is still open')
    return { kind: 'ended' }
  } catch (error) {
    if (isRelayError(error)) return { kind: 'not ended', error }
    return notEnded(`${messageOf(error)}: whether its marker was written is not known, look again`)
  }
}

/** In a few words, for people. */
export function verdictText({ verdict, ours }: FoundTransaction): string {
  const { kind, known } = verdict
  const who = known ? `transactional id ${known.transactionalId} (${known.state}, epoch ${known.producerEpoch})` : ''
  if (ours) return `of this relay: its next bell or sweep ends it; ${who}`
  if (kind === 'live') return `under way: ${who} ends it, at the latest by its timeout`
  if (kind === 'not fenced')
    return `${who} may still write it: stop that producer, and start one with its id to fence it`
  if (kind === 'young') return 'written a short while ago: look again later'
  return known ? `hangs: ${who} has moved on without it` : 'hangs: no coordinator knows its producer'
}

async function judgeAll(
  deployment: RelayDeployment,
  places: readonly TopicPartition[],
  olderThanMs: number,
  deadline: Deadline,
): Promise<readonly FoundTransaction[]> {
  const { clock, relay, settings } = deployment
  const [open, known] = await openAndKnown(deployment, places, deadline).catch((error) => {
    if (!(error instanceof TransportError)) throw error
    throw new RelayError('BROKER_UNAVAILABLE', `it cannot be told what hangs: ${error.message}`, { cause: error })
  })
  return open.map((one) => {
    const verdict = judgeProducer(one, known, clock.now(), olderThanMs)
    const ours = verdict.known?.transactionalId.startsWith(`${settings.prefix}.${relay.name}.`) ?? false
    return { open: one, verdict, ours: ours && verdict.kind !== 'hanging' }
  })
}

/**
 * First what is open, then what is known, then what is still open: whoever began in between is not in the first, and whoever
 * was ended in between, so that its coordinator has forgotten the partition, is not in the last.
 */
async function openAndKnown({ cluster }: RelayDeployment, places: readonly TopicPartition[], deadline: Deadline) {
  const lookAt = async (those: readonly TopicPartition[]) =>
    (await Promise.all(those.map((place) => openProducersOf(cluster, place, deadline)))).flat()
  const open = await lookAt(places)
  if (open.length === 0) return [[], []] as const
  const known = await knownTransactions(cluster, [...new Set(open.map(({ producerId }) => producerId))], deadline)
  const still = await lookAt([...new Map(open.map((one) => [tpKey(one), one])).values()])
  return [open.filter((one) => still.some((other) => isSameTransaction(one, other))), known] as const
}

const beingWritten =
  'it is being written, by a producer that this user cannot see: allow Describe on all transactional ids'

const notEnded = (message: string): Ended => ({ kind: 'not ended', error: new RelayError('BROKER_ERROR', message) })
