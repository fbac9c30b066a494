/** The parts of kafkajs 2.2.4 that `connect.ts` uses: it has no types for them and is pinned to that version. */
declare module 'kafkajs/src/network/connection.js' {
  import type { Mechanism } from 'kafkajs'

  interface Logger {
    namespace(): Logger
    debug(): void
    info(): void
    warn(): void
    error(): void
  }

  /** For the mechanisms that it has itself. It writes to the object. */
  export interface Credentials {
    mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    username: string
    password: string
  }

  /** A request and how to read its answer. */
  export interface Protocol<T> {
    request: unknown
    response: { parse(data: never): Promise<T> }
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
      sasl: Credentials | Mechanism | null
      socketFactory: (args: { onConnect: () => void }) => SocketForKafkajs
      connectionTimeout: number
      requestTimeout: number
    })
    connect(): Promise<true>
    send<T>(protocol: Protocol<T>): Promise<T>
    setVersions(versions: Record<number, { minVersion: number; maxVersion: number }>): void
    setSupportAuthenticationProtocol(isSupported: boolean): void
    authenticate(): Promise<void>
    /** Milliseconds, 0 without a bound. */
    readonly sessionLifetime: { toString(): string }
    readonly requestQueue: { destroy(): void; scheduleCheckPendingRequests: () => void }
  }
}

declare module 'kafkajs/src/protocol/requests/apiVersions/index.js' {
  import type { Protocol } from 'kafkajs/src/network/connection.js'

  interface Versions {
    apiVersions: { apiKey: number; minVersion: number; maxVersion: number }[]
  }
  const ApiVersions: { protocol(choice: { version: number }): () => Protocol<Versions> }
  export default ApiVersions
}
