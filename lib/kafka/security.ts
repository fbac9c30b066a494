import type { ConnectionOptions } from 'node:tls'
import type { SaslConfig } from './connection-config.ts'

/** How connections to brokers are protected. */
export interface ConnectionSecurity {
  /** true: TLS with the system's certificate authorities. */
  readonly tls?: boolean | ConnectionOptions
  readonly sasl?: SaslConfig
}

/** Where that comes from, when it can change while a container is warm: passwords and certificates are rotated. */
export interface SecuritySource {
  /** Read once and kept. @throws RelayError SECRET_UNREADABLE, CONFIG_INVALID */
  current(): Promise<ConnectionSecurity>
  /**
   * A broker refused `refused`, or was not trusted with it: what holds now, or null when that is the same still.
   * @throws RelayError SECRET_UNREADABLE, CONFIG_INVALID
   */
  renewed(refused: ConnectionSecurity): Promise<ConnectionSecurity | null>
}

export const fixedSecurity = (security: ConnectionSecurity): SecuritySource => ({
  current: async () => security,
  renewed: async () => null,
})
