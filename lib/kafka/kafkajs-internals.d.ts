/** The part of kafkajs 2.2.4 that `connect.ts` uses: it has no types for it and is pinned to that version. */
declare module 'kafkajs/src/network/connection.js' {
  import type { Mechanism, SASLOptions } from 'kafkajs'

  interface Logger {
    namespace(): Logger
    debug(): void
    info(): void
    warn(): void
    error(): void
  }

  /** All that kafkajs calls on a socket. */
  export interface SocketForKafkajs {
    on(event: 'data' | 'end' | 'error' | 'timeout', listener: (argument: unknown) => void): unknown
    write(data: Buffer, encoding: 'binary'): unknown
    end(): unknown
    unref(): unknown
  }

  export default class Connection {
    constructor(options: {
      host: string
      port: number
      clientId: string
      logger: Logger
      sasl: SASLOptions | Mechanism | null
      socketFactory: (args: { onConnect: () => void }) => SocketForKafkajs
      connectionTimeout: number
      requestTimeout: number
    })
    connect(): Promise<true>
    setVersions(versions: Record<number, { minVersion: number; maxVersion: number }>): void
    setSupportAuthenticationProtocol(isSupported: boolean): void
    authenticate(): Promise<void>
    /** Milliseconds, 0 without a bound. */
    readonly sessionLifetime: { toString(): string }
    readonly requestQueue: { destroy(): void; scheduleCheckPendingRequests: () => void }
  }
}
