import { type Clock, type Deadline, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { BrokerList } from './broker-list.ts'
import type { Answer } from './cluster.ts'
import { nodeKey } from './connection-config.ts'
import { type Api, apis, type RequestOf } from './protocol/generated/index.ts'
import { silenceError } from './silence-code.ts'
import { type BrokerCapabilities, type NodeAddress, type Transport, TransportError } from './transport.ts'
import { chooseVersion, type VersionBounds } from './versions.ts'

/** Requests to a given broker at a version that both sides speak, and to whichever broker answers. */
export class BrokerClient {
  readonly #transport: Transport
  readonly #brokers: BrokerList
  readonly #clock: Clock
  /** Forgotten with each lost connection: a broker changes its versions only by a restart. */
  readonly #capabilities = new Map<string, BrokerCapabilities>()

  constructor(transport: Transport, brokers: BrokerList, clock: Clock) {
    this.#transport = transport
    this.#brokers = brokers
    this.#clock = clock
  }

  /** One transmission. @throws TransportError, RelayError BROKER_TOO_OLD */
  async send<A extends Api>(
    node: NodeAddress,
    api: A,
    body: RequestOf<A>,
    deadline: Deadline,
    bounds: VersionBounds = {},
  ): Promise<Answer<A>> {
    const version = await this.#version(node, api, deadline, bounds)
    try {
      const answer = await this.#transport.send({ node, api, version, body, deadline })
      this.#brokers.noteAnswer(node)
      return { body: answer, node, version }
    } catch (error) {
      throw this.#noteFailure(node, error)
    }
  }

  /** Asked from a broker at each call. @throws TransportError */
  async capabilities(node: NodeAddress, deadline: Deadline): Promise<BrokerCapabilities> {
    try {
      const capabilities = await this.#transport.capabilities(node, deadline)
      this.#capabilities.set(nodeKey(node), capabilities)
      return capabilities
    } catch (error) {
      throw this.#noteFailure(node, error)
    }
  }

  /**
   * `ask` for one broker after the other until one answers, `last` being tried at the end; each gets its share of the time.
   * For reads: a broker may have been asked without answering.
   *
   * @throws RelayError BROKER_UNAVAILABLE when none answered, BROKER_UNTRUSTED when none is to be trusted;
   *   AUTHENTICATION_FAILED as soon as one refuses the credentials, since trying them on all brokers can lock an account;
   *   SECRET_UNREADABLE or CONFIG_INVALID without credentials.
   */
  async tryEach<T>(
    what: string,
    deadline: Deadline,
    last: NodeAddress | undefined,
    ask: (node: NodeAddress, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const candidates = this.#brokers.candidates(last)
    const failures: TransportError[] = []
    for (const [index, node] of candidates.entries()) {
      const shareMs = deadline.remainingMs() / (candidates.length - index)
      try {
        return await ask(node, sooner(this.#clock, deadline, shareMs))
      } catch (error) {
        if (!(error instanceof TransportError)) throw error
        if (error.reason === 'authentication' || error.reason === 'secret') throw silenceError(error)
        failures.push(error)
      }
    }
    throw unavailable(what, failures)
  }

  async #version(node: NodeAddress, api: Api, deadline: Deadline, bounds: VersionBounds): Promise<number> {
    const known = this.#capabilities.get(nodeKey(node)) ?? (await this.#firstCapabilities(node, deadline))
    return chooseVersion(api, node, known.apis.get(apis[api].key), bounds)
  }

  /** The request itself has not been sent yet, whatever became of the question for versions. */
  async #firstCapabilities(node: NodeAddress, deadline: Deadline): Promise<BrokerCapabilities> {
    try {
      return await this.capabilities(node, deadline)
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      throw new TransportError(error.node, error.reason, false, error.message, error.cause)
    }
  }

  #noteFailure(node: NodeAddress, error: unknown): unknown {
    if (error instanceof TransportError) {
      this.#capabilities.delete(nodeKey(node))
      this.#brokers.noteFailure(node)
    }
    return error
  }
}

function unavailable(what: string, failures: readonly TransportError[]): RelayError {
  const isUntrusted = failures.length > 0 && failures.every(({ reason }) => reason === 'untrusted')
  const reasons = failures.map(({ message, reason }) => `${message} (${reason})`).join('; ')
  return new RelayError(
    isUntrusted ? 'BROKER_UNTRUSTED' : 'BROKER_UNAVAILABLE',
    `no broker answered ${what}: ${reasons}`,
    {
      context: { brokers: failures.map(({ node }) => nodeKey(node)) },
      cause: failures.at(-1),
    },
  )
}
