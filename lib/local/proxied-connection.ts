import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { FrameSplitter } from '../kafka/protocol/frame.ts'

/** What becomes of one request. Requests of one connection never overtake each other. */
export type Fate =
  | 'pass'
  /** The connection is cut before the broker has the request. */
  | 'lose-request'
  /** The broker serves the request; the connection is cut when it answers. */
  | 'lose-answer'
  /** The connection is half open from now on: nothing passes either way, and nobody is told. */
  | 'silence'
  /** The broker gets it so much later, also if the client has given up and gone by then. */
  | { readonly delayMs: number }

/** Correlation id of a request, behind API key and version; of an answer, at its start. */
const correlationInRequest = 4
const correlationInAnswer = 0

/** One connection through a proxy, cut into requests and answers. */
export class ProxiedConnection {
  /** Both sides are closed. Never rejects. */
  readonly ended: Promise<unknown>
  readonly #client: Socket
  readonly #broker: Socket
  readonly #clock: Clock
  readonly #fateOf: (frame: Buffer) => Fate
  /** Requests whose answers must not arrive. */
  readonly #doomed = new Set<number>()
  /** Everything that was received is passed on. */
  #passedOn: Promise<void> = Promise.resolve()
  /** When the last of it is due at the broker. */
  #dueAtMs = 0
  #isSilent = false
  readonly #cut = new AbortController()

  constructor(client: Socket, broker: Socket, clock: Clock, fateOf: (frame: Buffer) => Fate) {
    this.#client = client
    this.#broker = broker
    this.#clock = clock
    this.#fateOf = fateOf
    const [requests, answers] = [new FrameSplitter(), new FrameSplitter()]
    client.on('data', (bytes) => this.#split(requests, bytes, (frame) => this.#request(frame)))
    broker.on('data', (bytes) => this.#split(answers, bytes, (frame) => this.#answer(frame)))
    broker.on('error', () => undefined)
    // A client that goes leaves what it has sent on its way; a broker that goes while it is half open is not noticed.
    client.on('close', () => this.#passedOn.then(() => broker.end()))
    broker.on('close', () => this.#isSilent || client.destroy())
    this.ended = Promise.all([client, broker].map((socket) => new Promise((resolve) => socket.on('close', resolve))))
  }

  cut(): void {
    this.#cut.abort()
    this.#client.destroy()
    this.#broker.destroy()
  }

  #split(splitter: FrameSplitter, bytes: Buffer, onFrame: (frame: Buffer) => void): void {
    try {
      splitter.push(bytes, onFrame)
    } catch {
      this.cut() // not Kafka's protocol
    }
  }

  #request(frame: Buffer): void {
    const fate = this.#isSilent ? 'silence' : this.#fateOf(frame)
    if (fate === 'silence') this.#isSilent = true
    else if (fate === 'lose-request') this.cut()
    else this.#passOn(frame, fate)
  }

  #passOn(frame: Buffer, fate: Exclude<Fate, 'silence' | 'lose-request'>): void {
    if (fate === 'lose-answer') this.#doomed.add(frame.readInt32BE(correlationInRequest))
    const delayMs = typeof fate === 'object' ? fate.delayMs : 0
    const dueAtMs = Math.max(this.#dueAtMs, this.#clock.now() + delayMs)
    this.#dueAtMs = dueAtMs
    this.#passedOn = this.#passedOn.then(async () => {
      await this.#until(dueAtMs)
      write(this.#broker, frame)
    })
  }

  async #until(atMs: number): Promise<void> {
    const waitMs = atMs - this.#clock.now()
    if (waitMs > 0) await this.#clock.sleep(waitMs, this.#cut.signal).catch(() => undefined)
  }

  #answer(frame: Buffer): void {
    if (this.#isSilent) return
    if (this.#doomed.has(frame.readInt32BE(correlationInAnswer))) this.cut()
    else write(this.#client, frame)
  }
}

function write(socket: Socket, frame: Buffer): void {
  if (socket.destroyed || !socket.writable) return
  const length = Buffer.allocUnsafe(4)
  length.writeInt32BE(frame.length)
  socket.cork()
  socket.write(length)
  socket.write(frame)
  socket.uncork()
}
