import { type ErrorCode, RelayError } from '../errors.ts'
import { classify, kafkaErrorName, type Operation, type Verdict } from '../kafka/errors.ts'
import { denialText, missingAcl } from '../kafka/missing-acl.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'

/** What one answer, or the worst part of it, means for the transaction. */
export interface Judgement {
  readonly operation: Operation
  readonly verdict: Verdict
  /** Look the leader or coordinator up again before the next attempt. */
  readonly relocate: boolean
  /** Kafka's code; null when a part that was asked for was not answered. */
  readonly code: number | null
  /** Kafka's name of the code. */
  readonly name: string
  readonly part?: TopicPartition
  /** The group that the request named. */
  readonly group?: string
}

export interface AnsweredPart extends TopicPartition {
  readonly code: number
}

export function judgeCode(operation: Operation, code: number, part?: TopicPartition): Judgement {
  const { verdict, relocate } = classify(operation, code)
  return { operation, verdict, relocate, code, name: kafkaErrorName(code), ...(part && { part }) }
}

/**
 * The worst of all parts. A part that was asked for and is not in the answer is no clear yes.
 */
export function judgeParts(
  operation: Operation,
  asked: readonly TopicPartition[],
  answered: readonly AnsweredPart[],
): Judgement {
  const found = new Map(answered.map((part) => [tpKey(part), part]))
  const judgements = asked.map((part) => {
    const answer = found.get(tpKey(part))
    return answer ? judgeCode(operation, answer.code, part) : notAnswered(operation, part)
  })
  return judgements.reduce(worse, judgeCode(operation, 0))
}

export const notAnswered = (operation: Operation, part: TopicPartition): Judgement => ({
  operation,
  verdict: 'poison',
  relocate: false,
  code: null,
  name: 'no answer for it',
  part,
})

/** From harmless to grave. Within one answer the gravest decides; a cause (a missing topic) is graver than its echo (55). */
const gravity: readonly Verdict[] = [
  'ok',
  'wait',
  'resend',
  'poison',
  'range',
  'config',
  'refused',
  'missing',
  'denied',
  'fenced',
]

export function worse(one: Judgement, other: Judgement): Judgement {
  const graver = gravity.indexOf(other.verdict) > gravity.indexOf(one.verdict) ? other : one
  return graver.relocate || !(one.relocate || other.relocate) ? graver : { ...graver, relocate: true }
}

const errorCodeOf = {
  ok: 'INVARIANT_BROKEN',
  wait: 'SESSION_POISONED',
  resend: 'SESSION_POISONED',
  poison: 'SESSION_POISONED',
  range: 'SESSION_POISONED',
  config: 'CONFIG_INVALID',
  refused: 'RECORD_INVALID',
  missing: 'TOPIC_MISSING',
  denied: 'NOT_AUTHORIZED',
  fenced: 'SESSION_FENCED',
} as const satisfies Record<Verdict, ErrorCode>

const fixes: Partial<Record<Verdict, string>> = {
  missing: 'create it, or take it out of the relay',
  fenced: 'nothing more is sent: another session took the transactional id, or the transaction timed out',
}

export function errorOf(judgement: Judgement, producer: string): RelayError {
  const { operation, code, name, part, verdict, group } = judgement
  const where = part ? ` for ${tpKey(part)}` : ''
  const names = { ...part, ...(group !== undefined && { group }), transactionalId: producer }
  const isDenied = verdict === 'denied' && code !== null
  const fix = isDenied ? denialText(operation, code, names) : fixes[verdict]
  const message = `${operation} of ${producer}${where} was answered ${name}${fix ? `; ${fix}` : ''}`
  return new RelayError(errorCodeOf[verdict], message, {
    context: {
      producer,
      operation,
      brokerCode: code,
      ...part,
      ...(isDenied && { missingAcl: missingAcl(operation, code, names) }),
    },
  })
}
