import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { OpenedSocket } from './connect.ts'
import { nodeKey } from './connection-config.ts'
import type { Inlet } from './inlet.ts'
import { correlationIdOf, decodeResponseFrame, encodeRequestFrame, FrameSplitter } from './protocol/frame.ts'
import type { Api, ResponseOf } from './protocol/generated/index.ts'
import { type NodeAddress, TransportError, type WireRequest } from './transport.ts'

export interface NodeConnectionOptions {
  readonly node: NodeAddress
  readonly clientId: string
  readonly clock: Clock
  readonly idleMaxMs: number
  readonly open: () => Promise<OpenedSocket>
}

interface Outstanding {
  readonly correlationId: number
  readonly timer: NodeJS.Timeout
  /** Until they are written. */
  chunks: readonly Buffer[] | undefined
  readonly answer: (frame: Buffer) => void
  readonly fail: (error: TransportError) => void
}

/** After this share of an authenticated session's lifetime another connection takes over. */
const SESSION_SHARE = 0.8
const CORRELATION_IDS = 2 ** 31

/**
 * One connection to one broker, opened at once and used for ever after in the order of the calls: requests wait for it to
 * open, are then written without waiting for each other, and are answered in order, as Kafka promises.
 *
 * It ends as a whole: a deadline that passes, a lost socket and an answer that cannot be read each destroy the socket and
 * fail all outstanding requests, because an answer that comes late would otherwise be taken for the next one's.
 * The socket keeps the process alive only while requests are outstanding.
 *
 * A broker that throttles reads no more from the connection for `throttleTimeMs` (KIP-219): requests then wait in the
 * socket, within their deadlines.
 */
export class NodeConnection {
  readonly #options: NodeConnectionOptions
  readonly #splitter = new FrameSplitter()
  readonly #outstanding: Outstanding[] = []
  #socket: Socket | undefined
  #state: 'open' | 'retired' | 'closed' = 'open'
  #correlationId = 0
  #answered = false
  #usedAtMs: number
  #renewAtMs = Number.POSITIVE_INFINITY
  readonly #drained = Promise.withResolvers<void>()
  readonly #inlet: Inlet

  constructor(options: NodeConnectionOptions, after: Promise<void> = Promise.resolve()) {
    this.#options = options
    this.#usedAtMs = options.clock.now()
    const splitter = this.#splitter
    this.#inlet = {
      get room() {
        return splitter.room
      },
      push: (bytes) => this.#receive(bytes),
    }
    after
      .then(() => options.open())
      .then((opened) => this.#opened(opened))
      .catch((error: TransportError) => this.#end(error))
  }

  /** Resolves when nothing is outstanding any more on a retired or closed connection. */
  get drained(): Promise<void> {
    return this.#drained.promise
  }

  /** False when the next request should go to another connection. */
  isFit(): boolean {
    const nowMs = this.#options.clock.now()
    const stale = this.#outstanding.length === 0 && nowMs - this.#usedAtMs > this.#options.idleMaxMs
    return this.#state === 'open' && !stale && nowMs < this.#renewAtMs
  }

  /** Takes no further requests, answers those it has and closes. */
  retire(): void {
    if (this.#state === 'open') this.#state = 'retired'
    this.#rest()
  }

  close(): void {
    this.#end(this.#error('closed', 'closed by us'))
  }

  send<A extends Api>(request: WireRequest<A>): Promise<ResponseOf<A>> {
    const remainingMs = request.deadline.remainingMs()
    if (remainingMs <= 0) return Promise.reject(this.#error('timeout', `no time left for ${request.api}`))
    return new Promise((resolve, reject) => {
      const { api, version, body } = request
      const correlationId = this.#nextCorrelationId()
      const chunks = encodeRequestFrame({ api, version, correlationId, clientId: this.#options.clientId, body })
      const timer = setTimeout(() => this.#expire(entry, api, remainingMs), remainingMs)
      const answer = (frame: Buffer) => resolve(decodeResponseFrame(api, version, frame))
      const entry: Outstanding = { correlationId, timer, chunks, answer, fail: reject }
      this.#outstanding.push(entry)
      if (this.#socket !== undefined) this.#write(this.#socket, entry)
    })
  }

  #opened({ socket, receive, sessionLifetimeMs }: OpenedSocket): void {
    if (this.#state === 'closed') {
      socket.destroy()
      return
    }
    this.#socket = socket
    if (sessionLifetimeMs !== null) this.#renewAtMs = this.#options.clock.now() + sessionLifetimeMs * SESSION_SHARE
    receive(this.#inlet)
    socket.on('error', (cause) => this.#end(this.#error('closed', `lost: ${cause.message}`, cause)))
    socket.on('close', () => this.#end(this.#error('closed', `closed by the broker${this.#firstRequestHint()}`)))
    for (const entry of this.#outstanding) this.#write(socket, entry)
    this.#rest()
  }

  #write(socket: Socket, entry: Outstanding): void {
    const chunks = entry.chunks ?? []
    entry.chunks = undefined
    socket.ref()
    socket.cork()
    for (const chunk of chunks) socket.write(chunk)
    process.nextTick(() => socket.uncork())
  }

  #receive(bytes: Buffer): void {
    try {
      this.#splitter.push(bytes, (frame) => this.#answer(frame))
    } catch (cause) {
      this.#end(this.#error('closed', messageOf(cause), cause))
    }
    this.#rest()
  }

  #answer(frame: Buffer): void {
    const entry = this.#outstanding[0]
    const correlationId = correlationIdOf(frame)
    if (entry?.correlationId !== correlationId)
      throw new Error(`answer ${correlationId} where ${entry?.correlationId ?? 'none'} was expected`)
    entry.answer(frame)
    this.#answered = true
    clearTimeout(entry.timer)
    this.#outstanding.shift()
  }

  #expire(entry: Outstanding, api: Api, afterMs: number): void {
    const error = this.#error('timeout', `no answer to ${api} within ${Math.round(afterMs)} ms`)
    if (entry.chunks === undefined) {
      this.#end(error, entry)
      return
    }
    this.#outstanding.splice(this.#outstanding.indexOf(entry), 1)
    entry.fail(error)
    this.#rest()
  }

  /** Fails all that is outstanding; `culprit` with the reason itself, the others because the connection went with it. */
  #end(error: TransportError, culprit?: Outstanding): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#socket?.destroy()
    for (const entry of this.#outstanding.splice(0)) {
      clearTimeout(entry.timer)
      const sent = entry.chunks === undefined
      const reason = culprit !== undefined && culprit !== entry ? 'closed' : error.reason
      entry.fail(new TransportError(error.node, reason, sent, error.message, error.cause))
    }
    this.#drained.resolve()
  }

  /** After each change: let the process end, or close for good, when nothing is outstanding. */
  #rest(): void {
    if (this.#outstanding.length > 0) return
    this.#usedAtMs = this.#options.clock.now()
    this.#socket?.unref()
    if (this.#state === 'retired') this.#end(this.#error('closed', 'retired'))
  }

  #nextCorrelationId(): number {
    this.#correlationId = (this.#correlationId + 1) % CORRELATION_IDS
    return this.#correlationId
  }

  /** How a listener that wants SASL shows to a client without it. */
  #firstRequestHint(): string {
    return this.#answered ? '' : ' on the first request: does the listener want SASL?'
  }

  #error(reason: TransportError['reason'], what: string, cause?: unknown): TransportError {
    return new TransportError(this.#options.node, reason, false, `${nodeKey(this.#options.node)}: ${what}`, cause)
  }
}
