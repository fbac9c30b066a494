import { messageOf } from '../errors.ts'
import { type OpenedSocket, openSocket } from './connect.ts'
import { nodeKey } from './connection-config.ts'
import type { ConnectionSecurity, SecuritySource } from './security.ts'
import { type NodeAddress, TransportError } from './transport.ts'

export interface SecuredConnecting {
  readonly clientId: string
  readonly source: SecuritySource
  /** For TCP, TLS and SASL together. */
  readonly connectTimeoutMs: number
}

/**
 * Connects with the security that holds; where that is refused, asks its source once whether it has changed and tries
 * with what it is now. A broker that takes no more connections for now refuses nobody: it costs no question.
 *
 * @throws TransportError as `openSocket` does; 'secret' when there is nothing to connect with
 */
export async function openSecured(connecting: SecuredConnecting, node: NodeAddress): Promise<OpenedSocket> {
  const { source } = connecting
  const security = await asking(node, () => source.current())
  try {
    return await open(connecting, node, security)
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal
    const renewed = await asking(node, () => source.renewed(security))
    if (renewed === null) throw refusal
    return open(connecting, node, renewed)
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof TransportError && (error.reason === 'authentication' || error.reason === 'untrusted')

/** The token is fetched before the broker waits for it, so that a missing one is not taken for one refused. */
async function open(
  { clientId, connectTimeoutMs }: SecuredConnecting,
  node: NodeAddress,
  security: ConnectionSecurity,
) {
  const { sasl } = security
  if (sasl?.mechanism !== 'oauthbearer') return openSocket({ clientId, ...security }, node, connectTimeoutMs)
  const token = await asking(node, () => sasl.token())
  const shown = { ...sasl, token: async () => token }
  return openSocket({ clientId, ...security, sasl: shown }, node, connectTimeoutMs)
}

async function asking<T>(node: NodeAddress, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw new TransportError(node, 'secret', false, `${nodeKey(node)}: ${messageOf(error)}`, error)
  }
}
