import { type Deadline, type Random, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Answer, Cluster, Target } from '../kafka/cluster.ts'
import type { Api, RequestOf } from '../kafka/protocol/generated/index.ts'
import { errorOf, type Judgement } from './judgement.ts'
import type { SessionLedger } from './ledger.ts'
import { pauses } from './pause.ts'
import { isSilence, type Silence, silenceOf } from './silence.ts'

/** What every request of a transaction needs. */
export interface Sending {
  readonly cluster: Cluster
  readonly ledger: SessionLedger
  readonly random: Random
  /** How long one transmission may stay unanswered before the identical bytes are sent again. */
  readonly attemptTimeoutMs: number
}

export interface Outgoing<A extends Api> {
  readonly target: Target
  readonly api: A
  readonly body: RequestOf<A>
  readonly versions?: { readonly minVersion?: number; readonly maxVersion?: number }
}

/**
 * One transmission, counted before it leaves and settled when it was answered or cannot have left. Without an answer
 * the role's place is forgotten, so that the next attempt looks it up again.
 * @throws RelayError whatever the ledger refuses with
 */
export async function transmit<A extends Api>(
  sending: Sending,
  request: Outgoing<A>,
  deadline: Deadline,
): Promise<Answer<A> | Silence> {
  const { cluster, ledger } = sending
  const transmission = ledger.transmit(request.api === 'EndTxn' ? 'transmit-end' : 'transmit')
  try {
    const attempt = sooner(cluster.clock, deadline, sending.attemptTimeoutMs)
    const answer = await cluster.request(request.target, request.api, request.body, attempt, request.versions)
    transmission.answered()
    return answer
  } catch (error) {
    const silence = silenceOf(error, `${request.api} of ${ledger.name}`)
    if (!silence.left) transmission.unsent()
    cluster.forget(request.target)
    return silence
  }
}

/**
 * Sends one request of a transaction until it has its clear yes: resends the identical bytes after a retriable answer or
 * none (R2), to wherever the role is by then. Any other answer, or the end of the deadline, ends the session's hope to
 * commit.
 * @throws RelayError SESSION_FENCED, SESSION_POISONED, NOT_AUTHORIZED, TOPIC_MISSING, or a refusal of a record
 */
export async function exchange<A extends Api>(
  sending: Sending,
  request: Outgoing<A>,
  judge: (answer: Answer<A>) => Judgement,
  deadline: Deadline,
): Promise<Answer<A>> {
  const pause = pauses(sending.cluster.clock, sending.random)
  for (;;) {
    const result = await transmit(sending, request, deadline)
    const judgement = isSilence(result) ? result : judge(result)
    if (!isSilence(result) && 'verdict' in judgement && judgement.verdict === 'ok') return result
    mayTryAgain(sending, judgement)
    if ('relocate' in judgement && judgement.relocate) sending.cluster.forget(request.target)
    if (!(await pause(deadline))) throw gaveUp(sending, request.api, judgement)
  }
}

/** Returns when the identical bytes may be sent again; otherwise ends the session's hope to commit and throws. */
export function mayTryAgain({ ledger }: Sending, last: Judgement | Silence): void {
  if (isSilence(last)) {
    if (last.healable) return
    throw ledger.doubt(last.error)
  }
  if (last.verdict === 'ok' || last.verdict === 'resend' || last.verdict === 'wait') return
  const error = errorOf(last, ledger.name)
  throw last.verdict === 'fenced' ? ledger.fence(error) : ledger.doubt(error)
}

/** The deadline ended without a clear yes. */
export function gaveUp({ ledger }: Sending, api: Api, last: Judgement | Silence): RelayError {
  const why = isSilence(last) ? last.error.message : `the last answer was ${last.name}`
  const message = `${api} of ${ledger.name} got no clear yes within the deadline: ${why}`
  return ledger.doubt(new RelayError('SESSION_POISONED', message, isSilence(last) ? { cause: last.error } : {}))
}
