import { type Deadline, type Random, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Answer, Cluster, Target } from '../kafka/cluster.ts'
import { brokerTimeoutMaxMs, openTransactionOf } from './describe.ts'
import { EPOCH_SPENT, type ProducerIdentity } from './epoch.ts'
import { errorOf, type Judgement, judgeCode } from './judgement.ts'
import { pauses } from './pause.ts'
import { isSilence, type Silence, silenceOf } from './silence.ts'

/** Kept back at the end of the deadline, to find out what the barrier is stuck behind. */
const DESCRIBE_MS = 500
const CONCURRENT_TRANSACTIONS = 51

export interface Barrier {
  /** null: a producer that is only idempotent; nothing is fenced then. */
  readonly transactionalId: string | null
  readonly transactionTimeoutMs: number
  readonly attemptTimeoutMs: number
  /** Awaited before each further attempt; what it rejects with ends the barrier. */
  readonly mayTryAgain?: () => Promise<void>
  /** An attempt that nobody answered: it may yet arrive, and fence the session that a later one opens. */
  readonly onUnanswered?: () => void
}

/**
 * InitProducerId(-1, -1): ends whatever transaction the id had, fences every older session of it, and answers only when
 * the markers of that transaction are written (R1).
 *
 * Unlike the requests of a transaction it may be sent again after any silence: each one only moves the epoch on, and the
 * answer that is used names the epoch it gave. A late copy can do no more than fence this very session, whose requests
 * are then refused: work is lost, data is not.
 * An epoch without room for a transaction is exchanged for a new producer id at once (P4).
 * @throws RelayError BARRIER_STUCK, TRANSACTION_TIMEOUT_TOO_LONG, NOT_AUTHORIZED, BROKER_UNAVAILABLE
 */
export async function barrier(
  cluster: Cluster,
  barrier: Barrier,
  random: Random,
  deadline: Deadline,
): Promise<ProducerIdentity> {
  const identity = await initProducerId(cluster, barrier, random, deadline)
  return identity.producerEpoch < EPOCH_SPENT ? identity : initProducerId(cluster, barrier, random, deadline)
}

async function initProducerId(cluster: Cluster, barrier: Barrier, random: Random, deadline: Deadline) {
  const pause = pauses(cluster.clock, random)
  const askingEnds = withoutReserve(deadline)
  for (let stuck = false; ; ) {
    const last = await attempt(cluster, barrier, askingEnds)
    if ('body' in last) return { producerId: last.body.producerId, producerEpoch: last.body.producerEpoch }
    stuck ||= !isSilence(last) && last.code === CONCURRENT_TRANSACTIONS
    if (await pause(askingEnds)) await barrier.mayTryAgain?.()
    else throw stuck ? await barrierStuck(cluster, barrier, deadline) : unavailable(barrier, last)
  }
}

const withoutReserve = (deadline: Deadline): Deadline => {
  const reserveMs = Math.min(DESCRIBE_MS, deadline.remainingMs() / 4)
  return { atMs: deadline.atMs - reserveMs, remainingMs: () => deadline.remainingMs() - reserveMs }
}

/** The answer, or why another attempt is needed; whatever no attempt can heal is thrown. */
async function attempt(
  cluster: Cluster,
  barrier: Barrier,
  deadline: Deadline,
): Promise<Answer<'InitProducerId'> | Judgement | Silence> {
  const { transactionalId, transactionTimeoutMs, attemptTimeoutMs } = barrier
  const target = targetOf(transactionalId)
  const body = { transactionalId, transactionTimeoutMs, producerId: -1n, producerEpoch: -1 }
  try {
    const soon = sooner(cluster.clock, deadline, attemptTimeoutMs)
    const answer = await cluster.request(target, 'InitProducerId', body, soon)
    const judgement = judgeCode('InitProducerId', answer.body.errorCode)
    if (judgement.verdict === 'ok') return answer
    if (judgement.relocate) cluster.forget(target)
    if (judgement.verdict === 'wait' || judgement.verdict === 'resend') return judgement
    throw await refused(cluster, barrier, answer, judgement, deadline)
  } catch (error) {
    const silence = silenceOf(error, `InitProducerId of ${nameOf(barrier)}`)
    if (!silence.healable) throw silence.error
    if (silence.left) barrier.onUnanswered?.()
    cluster.forget(target)
    return silence
  }
}

const targetOf = (transactionalId: string | null): Target =>
  transactionalId === null ? { to: 'any' } : { to: 'transaction-coordinator', key: transactionalId }

const nameOf = ({ transactionalId }: Barrier): string => transactionalId ?? 'a producer without id'

async function refused(
  cluster: Cluster,
  barrier: Barrier,
  { node }: Answer<'InitProducerId'>,
  judgement: Judgement,
  deadline: Deadline,
): Promise<RelayError> {
  if (judgement.verdict !== 'config') return errorOf(judgement, nameOf(barrier))
  const { transactionalId, transactionTimeoutMs } = barrier
  const maxMs = await brokerTimeoutMaxMs(cluster, node, deadline)
  const bound = maxMs === null ? 'the broker does not say its own bound' : `the broker allows ${maxMs}`
  return new RelayError(
    'TRANSACTION_TIMEOUT_TOO_LONG',
    `transaction timeout of ${nameOf(barrier)} is ${transactionTimeoutMs} ms, ${bound} (transaction.max.timeout.ms); lower the function timeout or raise the broker's bound`,
    { context: { transactionalId, transactionTimeoutMs, transactionMaxTimeoutMs: maxMs } },
  )
}

function unavailable(barrier: Barrier, last: Judgement | Silence): RelayError {
  const asked = `InitProducerId of ${nameOf(barrier)}`
  if (!isSilence(last)) {
    return new RelayError('BROKER_UNAVAILABLE', `${asked} was answered ${last.name} until the deadline`)
  }
  return new RelayError('BROKER_UNAVAILABLE', last.error.message, { cause: last.error })
}

async function barrierStuck(cluster: Cluster, barrier: Barrier, deadline: Deadline): Promise<RelayError> {
  const id = nameOf(barrier)
  const open = await openTransactionOf(cluster, id, deadline)
  const found = open?.summary ?? 'the coordinator does not describe it'
  return new RelayError('BARRIER_STUCK', `the last transaction of ${id} does not finish: ${found}`, {
    context: { transactionalId: barrier.transactionalId, ...open },
  })
}
