import { isRelayError, messageOf, RelayError } from '../errors.ts'
import { classify, kafkaErrorName, type Operation } from './errors.ts'
import { type AclNames, denied } from './missing-acl.ts'
import { type TopicPartition, tpKey } from './record.ts'
import { silenceCode } from './silence-code.ts'
import { TransportError } from './transport.ts'

/** An error, and whether asking again (elsewhere, later) may heal it. */
export interface Trouble {
  readonly result: RelayError
  readonly again: boolean
}

/** What a broker's code other than 0 means for a read, which may be repeated at will. `names`: what was asked beside the topic. */
export function troubleOf(operation: Operation, place: TopicPartition, code: number, names: AclNames = {}): Trouble {
  const { verdict } = classify(operation, code)
  const again = verdict === 'resend' || verdict === 'wait' || verdict === 'missing'
  const context = { ...place, operation, code }
  const found = `${operation} of ${tpKey(place)} was answered with ${kafkaErrorName(code)}`
  switch (verdict) {
    case 'range':
      return { again, result: new RelayError('OFFSET_OUT_OF_RANGE', found, { context }) }
    case 'denied':
      return { again, result: denied(`${operation} of ${tpKey(place)}`, operation, code, { ...place, ...names }) }
    case 'missing':
      return {
        again,
        result: new RelayError('TOPIC_MISSING', `${found}: create the topic, or correct its name`, { context }),
      }
    default:
      return { again, result: new RelayError('BROKER_ERROR', found, { context }) }
  }
}

/**
 * No answer came: a dead or silent broker is asked again, wrong credentials are not.
 * @throws the error itself when it is neither
 */
export function silenceOf(operation: Operation, error: unknown): Trouble {
  if (isRelayError(error)) return { again: error.code === 'BROKER_UNAVAILABLE', result: error }
  if (!(error instanceof TransportError)) throw error
  const code = silenceCode(error)
  const { host, port } = error.node
  const message = `${operation} got no answer from ${host}:${port}, ${messageOf(error)}`
  return { again: code === 'BROKER_UNAVAILABLE', result: new RelayError(code, message, { cause: error }) }
}

/** An answer without the partition that was asked for. */
export function leftOut(operation: Operation, place: TopicPartition): RelayError {
  return new RelayError('BROKER_ERROR', `${operation} left ${tpKey(place)} out of its answer`, {
    context: { ...place },
  })
}
