import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Answer } from '../kafka/cluster.ts'
import { classify, kafkaErrorName } from '../kafka/errors.ts'
import { denialText, missingAcl } from '../kafka/missing-acl.ts'
import { decideEnd, type Earlier, rememberEnd } from './end-outcome.ts'
import type { ProducerIdentity } from './epoch.ts'
import { type Outgoing, type Sending, transmit } from './exchange.ts'
import { pauses } from './pause.ts'
import { isSilence, type Silence } from './silence.ts'

/**
 * EndTxn(commit), step 10. Call only after `ledger.commit()`. Resolves only when the transaction is committed.
 *
 * The identical request is sent again after 51, 14, 15, 16 or no answer, until the deadline; what the answers prove is
 * decided by `decideEnd`. When no byte of it ever left, nothing is committed; every other ending is unknown.
 * @throws RelayError COMMIT_UNKNOWN (unknown), SESSION_FENCED and SESSION_POISONED (not-applied)
 */
export async function commitTransaction(sending: Sending, transactionalId: string, deadline: Deadline): Promise<void> {
  const request = endTxn(sending, transactionalId, true)
  const pause = pauses(sending.cluster.clock, sending.random)
  for (let earlier: Earlier = 'none'; ; ) {
    const result = await transmit(sending, request, deadline)
    if (isSilence(result)) {
      earlier = result.left ? 'perhaps' : earlier
      if (result.healable && (await pause(deadline))) continue
      throw notEnded(sending, earlier, result)
    }
    const decision = decideEnd(result.body.errorCode, earlier)
    if (decision === 'ended') return sending.ledger.end(successor(sending, result))
    if (decision === 'not-committed') throw fenced(sending, result)
    earlier = rememberEnd(result.body.errorCode, earlier)
    if (decision === 'unknown') throw notEnded(sending, 'perhaps', result)
    relocate(sending, request, result)
    if (!(await pause(deadline))) throw notEnded(sending, earlier, result)
  }
}

/**
 * EndTxn(abort) (R11). Call only after `ledger.abort()` has allowed it. Never throws for the broker's sake: without a
 * clear yes the session is closed, and the next barrier ends the transaction.
 *
 * Sent again only after an answer that says so, never after silence: a late copy could meet the next transaction.
 */
export async function abortTransaction(sending: Sending, transactionalId: string, deadline: Deadline): Promise<void> {
  const request = endTxn(sending, transactionalId, false)
  const pause = pauses(sending.cluster.clock, sending.random)
  for (;;) {
    const result = await transmit(sending, request, deadline)
    if (isSilence(result)) return void sending.ledger.doubt(result.error)
    const { verdict } = classify('EndTxn', result.body.errorCode)
    if (verdict === 'ok') return sending.ledger.end(successor(sending, result))
    if (verdict === 'fenced') return void fenced(sending, result)
    relocate(sending, request, result)
    const again = (verdict === 'wait' || verdict === 'resend') && (await pause(deadline))
    if (!again) return void sending.ledger.doubt(poisoned(sending, lastOf(result)))
  }
}

function endTxn({ ledger }: Sending, transactionalId: string, committed: boolean): Outgoing<'EndTxn'> {
  return {
    target: { to: 'transaction-coordinator', key: transactionalId },
    api: 'EndTxn',
    body: { transactionalId, ...ledger.identity, committed },
    versions: ledger.protocol === 2 ? { minVersion: 5 } : { maxVersion: 4 },
  }
}

/** EndTxn 5 names who the producer is from now on; on the older protocol nothing changes. */
function successor({ ledger }: Sending, { body }: Answer<'EndTxn'>): ProducerIdentity | null {
  return ledger.protocol === 2 ? { producerId: body.producerId, producerEpoch: body.producerEpoch } : null
}

function relocate({ cluster }: Sending, request: Outgoing<'EndTxn'>, { body }: Answer<'EndTxn'>): void {
  if (classify('EndTxn', body.errorCode).relocate) cluster.forget(request.target)
}

const lastOf = (result: Answer<'EndTxn'> | Silence): string =>
  isSilence(result) ? result.error.message : `the last answer was ${answerText(result.body.errorCode)}`

function answerText(code: number): string {
  const isDenied = missingAcl('EndTxn', code, {}) !== null
  return isDenied ? `${kafkaErrorName(code)}: ${denialText('EndTxn', code, {})}` : kafkaErrorName(code)
}

function fenced({ ledger }: Sending, { body }: Answer<'EndTxn'>): RelayError {
  const name = kafkaErrorName(body.errorCode)
  const message = `EndTxn of ${ledger.name} was refused with ${name}: superseded, or the transaction timed out`
  return ledger.fence(new RelayError('SESSION_FENCED', message, { context: { brokerCode: body.errorCode } }))
}

function notEnded(sending: Sending, earlier: Earlier, last: Answer<'EndTxn'> | Silence): RelayError {
  const { ledger } = sending
  const why = lastOf(last)
  if (earlier === 'none') return ledger.abandon(isSilence(last) ? last.error : poisoned(sending, why))
  const message = `the commit of ${ledger.name} was sent, but whether it was applied is not known: ${why}`
  return ledger.doubt(
    new RelayError('COMMIT_UNKNOWN', `${message}; a barrier and an offset read tell`, { outcome: 'unknown' }),
  )
}

const poisoned = ({ ledger }: Sending, why: string): RelayError =>
  new RelayError('SESSION_POISONED', `EndTxn of ${ledger.name} got no clear yes within the deadline: ${why}`)
