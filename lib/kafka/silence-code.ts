import { type ErrorCode, isRelayError, RelayError } from '../errors.ts'
import type { SilenceReason, TransportError } from './transport.ts'

const codes = {
  connect: 'BROKER_UNAVAILABLE',
  timeout: 'BROKER_UNAVAILABLE',
  closed: 'BROKER_UNAVAILABLE',
  throttled: 'BROKER_UNAVAILABLE',
  authentication: 'AUTHENTICATION_FAILED',
  untrusted: 'BROKER_UNTRUSTED',
  secret: 'SECRET_UNREADABLE',
} as const satisfies Record<SilenceReason, ErrorCode>

/** The name of a silence. A broker that is away may be asked again soon; what was refused once is refused again. */
export const silenceCode = ({ reason }: TransportError): (typeof codes)[SilenceReason] => codes[reason]

const fixes = {
  BROKER_UNAVAILABLE: '',
  AUTHENTICATION_FAILED: '; check mechanism, user name and password, or the client certificate',
  BROKER_UNTRUSTED: '',
  SECRET_UNREADABLE: '',
}

/** The same as an error for the caller, with what mends it. */
export function silenceError(error: TransportError): RelayError {
  if (error.reason === 'secret' && isRelayError(error.cause)) return error.cause
  const code = silenceCode(error)
  return new RelayError(code, error.message + fixes[code], { cause: error })
}
