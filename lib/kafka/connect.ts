import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import Connection, { type SocketForKafkajs } from 'kafkajs/src/network/connection.js'
import ApiVersions from 'kafkajs/src/protocol/requests/apiVersions/index.js'
import { messageOf } from '../errors.ts'
import { type Credentials, nodeKey, type SaslConfig } from './connection-config.ts'
import { type Inlet, InletSwitch } from './inlet.ts'
import { kafkajsSasl } from './sasl.ts'
import { tlsVerdict, trustFix } from './tls-errors.ts'
import { type NodeAddress, TransportError } from './transport.ts'

/** An authenticated connection, ready for requests. */
export interface OpenedSocket {
  readonly socket: Socket
  /** Where its bytes go from now on; those that came before stay where they are. */
  receive(inlet: Inlet): void
  /** How long the broker honours the authentication; null without a bound (KIP-368). */
  readonly sessionLifetimeMs: number | null
}

const KEEP_ALIVE_AFTER_MS = 60_000
const askVersions = ApiVersions.protocol({ version: 2 })

/**
 * Connects, asks for the broker's versions and authenticates with kafkajs, then takes the socket over: kafkajs's own framing copies each request twice,
 * polls every millisecond and costs a third of a window of 10,000 records (33 ms against 20-24 ms on one broker).
 *
 * @throws TransportError, `sent` false: 'authentication' only if the broker refused password, token or certificate; 'untrusted' if its
 *   own certificate does not pass; 'throttled' if it says so or closed the new connection without an answer, which is how
 *   connection limits show.
 */
export async function openSocket(config: Credentials, node: NodeAddress, timeoutMs: number): Promise<OpenedSocket> {
  const dialled = dial(config, node)
  const connection = kafkajsConnection(config, node, dialled, timeoutMs)
  const timer = setTimeout(() => dialled.socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    await connection.connect()
    await greet(connection)
    if (config.sasl !== undefined) await connection.authenticate()
    dialled.release()
    const lifetimeMs = Number(connection.sessionLifetime)
    const receive = (inlet: Inlet) => dialled.inlets.turnTo(inlet)
    return { socket: dialled.socket, receive, sessionLifetimeMs: lifetimeMs > 0 ? lifetimeMs : null }
  } catch (error) {
    const failure = describeFailure(node, config.sasl, dialled, error)
    dialled.release()
    dialled.socket.on('error', () => undefined).destroy()
    throw failure
  } finally {
    clearTimeout(timer)
    connection.requestQueue.destroy()
  }
}

/**
 * A first question that changes nothing: a broker at its connection limit, a proxy without a broker behind it or a
 * listener with another protocol end the connection here, and not under a request that may have been carried out.
 */
async function greet(connection: Connection): Promise<void> {
  const { apiVersions } = await connection.send(askVersions())
  connection.setVersions(Object.fromEntries(apiVersions.map((range) => [range.apiKey, range])))
  connection.setSupportAuthenticationProtocol(true)
}

interface Dialled {
  readonly socket: Socket
  readonly inlets: InletSwitch
  readonly forKafkajs: SocketForKafkajs
  onConnect: () => void
  connected: boolean
  answered: boolean
  /** Takes kafkajs's listeners off the socket, and only those: Node has its own there. */
  readonly release: () => void
}

function dial(config: Credentials, node: NodeAddress): Dialled {
  const onConnect = () => {
    dialled.connected = true
    dialled.onConnect()
  }
  const inlets = new InletSwitch()
  const { host, port } = node
  const socket = config.tls
    ? dialTls(config.tls, node, inlets.onRead, onConnect)
    : connectTcp({ host, port, onread: inlets.onRead }, onConnect)
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS)
  const added: [event: string, listener: (argument: unknown) => void][] = []
  const forKafkajs: SocketForKafkajs = {
    on: (event, listener) => {
      if (event === 'data') return inlets.turnTo({ room: undefined, push: (bytes) => hear(listener, bytes) })
      added.push([event, listener])
      socket.on(event, listener)
    },
    write: (data, encoding) => socket.write(data, encoding),
    end: () => socket.end(),
    unref: () => socket.unref(),
  }
  const hear = (listener: (bytes: Buffer) => void, bytes: Buffer) => {
    dialled.answered = true
    listener(Buffer.from(bytes)) // it keeps them
  }
  const release = () => {
    for (const [event, listener] of added) socket.off(event, listener)
  }
  const dialled: Dialled = {
    socket,
    inlets,
    forKafkajs,
    onConnect: () => undefined,
    connected: false,
    answered: false,
    release,
  }
  return dialled
}

function dialTls(tls: true | object, { host, port }: NodeAddress, onread: OnReadOpts, onConnect: () => void): Socket {
  const servername = isIP(host) ? {} : { servername: host }
  const options = { host, port, onread, ...servername, ...(tls === true ? {} : tls) }
  return connectTls(options, onConnect)
}

function kafkajsConnection(config: Credentials, node: NodeAddress, dialled: Dialled, timeoutMs: number): Connection {
  const connection = new Connection({
    host: node.host,
    port: node.port,
    clientId: config.clientId,
    logger: quiet,
    sasl: config.sasl === undefined ? null : kafkajsSasl(config.sasl),
    connectionTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    socketFactory: ({ onConnect }) => {
      dialled.onConnect = onConnect
      return dialled.forKafkajs
    },
  })
  // Its endless timer serves throttled requests; there are none while it authenticates, and Node 24 warns about it.
  connection.requestQueue.scheduleCheckPendingRequests = () => undefined
  return connection
}

const quiet = { namespace: () => quiet, debug: nothing, info: nothing, warn: nothing, error: nothing }
function nothing(): void {}

function describeFailure(node: NodeAddress, sasl: SaslConfig | undefined, dialled: Dialled, error: unknown) {
  const { socket, connected, answered } = dialled
  const cause = socket.errored ?? error
  const fail = (reason: TransportError['reason'], what: string) =>
    new TransportError(node, reason, false, `${nodeKey(node)}: ${what}`, error)
  const verdict = tlsVerdict(cause)
  if (verdict === 'untrusted')
    return fail('untrusted', `has a certificate not to trust: ${messageOf(cause)}; ${trustFix(cause)}`)
  if (verdict === 'refused')
    return fail('authentication', `refused our certificate, or the lack of one: ${messageOf(cause)}`)
  if (!connected) return fail('connect', `cannot connect: ${messageOf(cause)}`)
  const isStanding = socket.errored === null && !socket.readableEnded && !socket.destroyed
  if (isStanding && isThrottling(error)) return fail('throttled', `takes no more log-ins for now: ${messageOf(error)}`)
  if (isStanding) return fail('authentication', `refused ${sasl?.mechanism}: ${messageOf(error)}`)
  if (answered) return fail('closed', `lost while it was opened: ${messageOf(cause)}`)
  if (socket.errored && !wasReset(socket.errored)) return fail('connect', `connected, then ${messageOf(cause)}`)
  return fail('throttled', 'closed the new connection without an answer: its connection limit is reached')
}

const wasReset = (error: Error): boolean => 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** MSK says so in the answer with which it would refuse a token, and nowhere else (MSK guide, "Too many connects"). */
const isThrottling = (error: unknown): boolean => /too many connects/i.test(messageOf(error))
