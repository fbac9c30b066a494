import type { Deadline } from '../clock.ts'
import type { Api, RequestOf, ResponseOf } from './protocol/generated/index.ts'

/** Where a broker listens. `nodeId` is -1 for a bootstrap address whose broker is not known yet. */
export interface NodeAddress {
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

export interface WireRequest<A extends Api> {
  readonly node: NodeAddress
  readonly api: A
  readonly version: number
  readonly body: RequestOf<A>
  readonly deadline: Deadline
}

export interface ApiRange {
  readonly min: number
  readonly max: number
}

/** What one broker answered to ApiVersions 3. */
export interface BrokerCapabilities {
  readonly apis: ReadonlyMap<number, ApiRange>
  /** Finalized feature levels, for example `transaction.version` -> 2. Empty on brokers that finalize none. */
  readonly features: ReadonlyMap<string, number>
}

/**
 * One request to one broker and its answer: the seam between the engine and the network. The real one stands on
 * kafkajs connections (`kafkajs-transport.ts`); the broker model of the simulation implements the same interface.
 *
 * Guarantees: requests to one node leave in the order of the calls over one connection, those apart that may wait in the
 * broker (Fetch, JoinGroup, SyncGroup), which have connections of their own; an answer belongs to its request; a
 * connection whose request was not answered in time is closed, never reused. Never resends by itself.
 */
export interface Transport {
  /** @throws TransportError when no answer came; `sent` tells whether the broker may have acted. */
  send<A extends Api>(request: WireRequest<A>): Promise<ResponseOf<A>>
  /** Asked anew on every call, never cached: features are finalized while brokers run (R4 of DESIGN section 4). */
  capabilities(node: NodeAddress, deadline: Deadline): Promise<BrokerCapabilities>
  /** The addresses to begin with. */
  readonly bootstrap: readonly NodeAddress[]
  close(): Promise<void>
}

export type SilenceReason =
  | 'connect'
  | 'timeout'
  | 'closed'
  | 'throttled' // takes no more connections or log-ins for now
  | 'authentication' // refused what we showed: password, token or certificate
  | 'untrusted' // showed a certificate that we do not take
  | 'secret' // we have nothing to show

/** No answer. Not a RelayError: the layer above decides what it means for the operation (R2, R3). */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  /** False only when no byte of the request can have reached the broker. */
  readonly sent: boolean
  readonly reason: SilenceReason
  readonly node: NodeAddress

  constructor(node: NodeAddress, reason: TransportError['reason'], sent: boolean, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.node = node
    this.reason = reason
    this.sent = sent
  }
}
