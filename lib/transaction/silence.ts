import { isRelayError, messageOf, RelayError } from '../errors.ts'
import { silenceCode } from '../kafka/silence-code.ts'
import { TransportError } from '../kafka/transport.ts'

/** No answer came. */
export interface Silence {
  readonly error: RelayError
  /** False only when no byte of the request can have reached a broker. */
  readonly left: boolean
  /** Whether trying again can help: a broken connection or a broker that is away, not wrong credentials. */
  readonly healable: boolean
}

export const isSilence = (result: object): result is Silence => 'healable' in result

/** Only a transport that says so, or an error from before the sending, proves that nothing left. */
export function silenceOf(error: unknown, what: string): Silence {
  if (error instanceof TransportError) {
    const code = silenceCode(error)
    const healable = code === 'BROKER_UNAVAILABLE'
    const message = `${what} got no answer: ${error.message}`
    const why = new RelayError(healable ? 'SESSION_POISONED' : code, message, { cause: error })
    return { error: why, left: error.sent, healable }
  }
  if (isRelayError(error)) return { error, left: false, healable: error.code === 'BROKER_UNAVAILABLE' }
  const why = new RelayError('SESSION_POISONED', `${what} failed: ${messageOf(error)}`, { cause: error })
  return { error: why, left: true, healable: false }
}
