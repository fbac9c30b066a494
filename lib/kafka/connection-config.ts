import { RelayError } from '../errors.ts'
import type { ConnectionSecurity, SecuritySource } from './security.ts'
import type { NodeAddress } from './transport.ts'

export type SaslConfig =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
      readonly username: string
      readonly password: string
    }
  /** `token` is called at each connect and must give a token that is valid for a while (MSK IAM signers fit here). */
  | { readonly mechanism: 'oauthbearer'; readonly token: () => Promise<string> }

/** What a connection begins with. */
export interface Credentials extends ConnectionSecurity {
  readonly clientId: string
}

/** `tls` and `sasl` hold for ever unless there is a `security` to ask. */
export interface KafkaConnectionConfig extends Credentials {
  /** Addresses to begin with, `host:port`; an IPv6 host in brackets. */
  readonly brokers: readonly string[]
  readonly security?: SecuritySource
  /** For TCP, TLS and SASL together. Default 5,000. */
  readonly connectTimeoutMs?: number
  /** A connection that was idle for longer is opened anew before use: its other end may have gone while we were frozen. Default 60,000. */
  readonly idleMaxMs?: number
}

/** @throws RelayError CONFIG_INVALID */
export function parseAddress(address: string): NodeAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed ?? plain
  if (host === undefined || !(Number(port) >= 1 && Number(port) <= 65_535))
    throw new RelayError('CONFIG_INVALID', `broker address "${address}" is not host:port with a port of 1 to 65535`)
  return { nodeId: -1, host, port: Number(port) }
}

/** For maps and messages. */
export const nodeKey = (node: NodeAddress): string => `${node.host}:${node.port}`
