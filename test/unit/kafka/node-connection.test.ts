import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { deadlineIn, systemClock } from '../../../lib/clock.ts'
import type { OpenedSocket } from '../../../lib/kafka/connect.ts'
import type { Inlet } from '../../../lib/kafka/inlet.ts'
import { NodeConnection } from '../../../lib/kafka/node-connection.ts'
import { FrameSplitter } from '../../../lib/kafka/protocol/frame.ts'
import { lengthOf, Writer } from '../../../lib/kafka/protocol/writer.ts'
import { type NodeAddress, TransportError } from '../../../lib/kafka/transport.ts'

const node: NodeAddress = { nodeId: 1, host: 'broker', port: 9092 }

/** Both ends of a connection in memory. The broker's end sees requests and answers them by hand. */
class Wire {
  readonly socket: Socket
  readonly broker: Duplex
  readonly requests: number[] = []
  keepsProcessAlive = true
  readonly #splitter = new FrameSplitter()

  constructor() {
    const [client, broker] = duplexPair()
    this.socket = Object.assign(client, { ref: this.#keeps(true), unref: this.#keeps(false) }) as unknown as Socket
    this.broker = broker
    broker.on('data', (bytes) => this.#splitter.push(bytes, (frame) => this.requests.push(frame.readInt32BE(4))))
    broker.on('error', () => undefined)
  }

  #keeps(alive: boolean): () => void {
    return () => {
      this.keepsProcessAlive = alive
    }
  }

  async received(count: number): Promise<void> {
    while (this.requests.length < count) await once(this.broker, 'data')
  }

  /** A DescribeCluster 0 answer that carries `clusterId`. */
  answer(correlationId: number, clusterId: string): void {
    const writer = new Writer()
    writer.int32(correlationId)
    writer.tags()
    writer.int32(0)
    writer.int16(0)
    writer.compactNullableString(null)
    writer.compactString(clusterId)
    writer.int32(1)
    writer.compactArray([], () => undefined)
    writer.int32(0)
    writer.tags()
    const chunks = writer.finish()
    const length = Buffer.alloc(4)
    length.writeInt32BE(lengthOf(chunks))
    this.broker.write(Buffer.concat([length, ...chunks]))
  }
}

let wire: Wire
let nowMs: number
let open: PromiseWithResolvers<OpenedSocket>

beforeEach(() => {
  wire = new Wire()
  nowMs = 1_000_000
  open = Promise.withResolvers()
})
afterEach(() => {
  vi.useRealTimers()
  wire.socket.destroy()
})

function connection(after?: Promise<void>): NodeConnection {
  const clock = { ...systemClock, now: () => nowMs }
  return new NodeConnection({ node, clientId: 'test', clock, idleMaxMs: 60_000, open: () => open.promise }, after)
}

const opens = (sessionLifetimeMs: number | null = null, { socket } = wire) =>
  open.resolve({ socket, receive: ({ push }: Inlet) => void socket.on('data', push), sessionLifetimeMs })

const ask = (to: NodeConnection, ms = 5_000) =>
  to
    .send({
      node,
      api: 'DescribeCluster',
      version: 0,
      body: { includeClusterAuthorizedOperations: false },
      deadline: deadlineIn(systemClock, ms),
    })
    .then(({ clusterId }) => clusterId)

async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(TransportError)
  return error as TransportError
}

test('requests made before it is open are sent in their order when it opens', async () => {
  const to = connection()
  const [first, second] = [ask(to), ask(to)]
  opens()
  await wire.received(2)
  expect(wire.requests).toEqual([1, 2])
  wire.answer(1, 'one')
  wire.answer(2, 'two')
  expect(await Promise.all([first, second])).toEqual(['one', 'two'])
})

test('requests do not wait for each other, and the process may end only when all are answered', async () => {
  const to = connection()
  opens()
  const answers = [ask(to), ask(to), ask(to)]
  await wire.received(3)
  wire.answer(1, 'one')
  await answers[0]
  expect(wire.keepsProcessAlive).toBe(true)
  wire.answer(2, 'two')
  wire.answer(3, 'three')
  expect(await Promise.all(answers)).toEqual(['one', 'two', 'three'])
  expect(wire.keepsProcessAlive).toBe(false)
})

test('when it cannot be opened nothing was sent', async () => {
  const to = connection()
  const asked = failureOf(ask(to))
  open.reject(new TransportError(node, 'authentication', false, 'refused'))
  expect(await asked).toMatchObject({ reason: 'authentication', sent: false, message: 'refused' })
  expect(to.isFit()).toBe(false)
})

test('a deadline that passes before it opens ends that request alone', async () => {
  const to = connection()
  const [late, patient] = [failureOf(ask(to, 10)), ask(to)]
  expect(await late).toMatchObject({ reason: 'timeout', sent: false })
  opens()
  await wire.received(1)
  expect(wire.requests).toEqual([2])
  wire.answer(2, 'two')
  expect(await patient).toBe('two')
})

test('a deadline that passes after sending ends the connection and everything on it', async () => {
  const to = connection()
  opens()
  const [late, patient] = [failureOf(ask(to, 20)), failureOf(ask(to))]
  expect(await late).toMatchObject({ reason: 'timeout', sent: true })
  expect(await patient).toMatchObject({ reason: 'closed', sent: true })
  expect(wire.socket.destroyed).toBe(true)
  expect(to.isFit()).toBe(false)
})

test('a socket that is lost fails what is outstanding', async () => {
  const to = connection()
  opens()
  const asked = failureOf(ask(to))
  await wire.received(1)
  wire.socket.destroy(new Error('reset by peer'))
  expect(await asked).toMatchObject({ reason: 'closed', sent: true, message: 'broker:9092: lost: reset by peer' })
})

test('an answer out of order is never taken for another request’s', async () => {
  const to = connection()
  opens()
  const [first, second] = [failureOf(ask(to)), failureOf(ask(to))]
  await wire.received(2)
  wire.answer(2, 'two')
  expect((await first).message).toContain('answer 2 where 1 was expected')
  expect(await second).toMatchObject({ reason: 'closed', sent: true })
})

test('an answer that cannot be read ends the connection', async () => {
  const to = connection()
  opens()
  const asked = failureOf(ask(to))
  await wire.received(1)
  wire.broker.write(Buffer.from('000000050000000100', 'hex'))
  expect((await asked).message).toContain('malformed message')
  expect(to.isFit()).toBe(false)
})

test('an answer that nobody asked for ends the connection', async () => {
  const to = connection()
  opens()
  wire.answer(9, 'nine')
  await to.drained
  expect(to.isFit()).toBe(false)
})

test('it is fit while it is used at least every minute', async () => {
  const to = connection()
  opens()
  const asked = ask(to)
  await wire.received(1)
  nowMs += 120_000
  expect(to.isFit()).toBe(true)
  wire.answer(1, 'one')
  await asked
  nowMs += 60_000
  expect(to.isFit()).toBe(true)
  nowMs += 1
  expect(to.isFit()).toBe(false)
})

test('before its session ends it gives way, and its successor waits for its last answer', async () => {
  const old = connection()
  opens(10_000)
  const asked = ask(old)
  await wire.received(1)
  nowMs += 7_999
  expect(old.isFit()).toBe(true)
  nowMs += 1
  expect(old.isFit()).toBe(false)
  old.retire()

  const secondWire = new Wire()
  open = Promise.withResolvers()
  const successor = connection(old.drained)
  opens(null, secondWire)
  const next = ask(successor)
  wire.answer(1, 'one')
  expect(await asked).toBe('one')
  await secondWire.received(1)
  secondWire.answer(1, 'two')
  expect(await next).toBe('two')
  expect(wire.socket.destroyed).toBe(true)
  secondWire.socket.destroy()
})

test('closing it fails what is outstanding, and it stays closed when it opens late', async () => {
  const to = connection()
  const asked = failureOf(ask(to))
  to.close()
  expect(await asked).toMatchObject({ reason: 'closed', sent: false })
  opens()
  await open.promise
  await Promise.resolve()
  expect(wire.socket.destroyed).toBe(true)
})
