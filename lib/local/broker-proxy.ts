import { connect, createServer, type Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import { type Api, apis } from '../kafka/protocol/generated/index.ts'
import { close, listen } from './http-server.ts'
import { type Fate, ProxiedConnection } from './proxied-connection.ts'

export interface PassingRequest {
  /** null: of an API that the protocol layer does not know. */
  readonly api: Api | null
  /** From its API key on, without the length. */
  readonly frame: Buffer
  /** Counts the connections of the proxy from 1. */
  readonly connection: number
}

export type FateOf = (request: PassingRequest) => Fate

export interface BrokerProxy {
  readonly port: number
  /** Connections that stand, by their numbers. */
  connections(): readonly number[]
  /** Where new connections lead from now on. Until then they are closed at once. */
  forwardTo(port: number): void
  /** Asks `fateOf` about each request from now on; the first that does not let it pass decides. Answers how to end that. */
  harm(fateOf: FateOf): () => void
  stop(): Promise<void>
}

const names = new Map<number, Api>(Object.values(apis).map(({ key, name }) => [key, name]))

/**
 * Stands between clients and one broker on 127.0.0.1, and does to requests what a network can do to them.
 * @throws RelayError LOCAL_STACK when it cannot listen
 */
export async function startBrokerProxy(clock: Clock = systemClock): Promise<BrokerProxy> {
  const connections = new Map<number, ProxiedConnection>()
  const harms = new Set<FateOf>()
  let brokerPort: number | null = null
  let accepted = 0

  const fateOf = (frame: Buffer, connection: number): Fate => {
    const request = { api: names.get(frame.readInt16BE(0)) ?? null, frame, connection }
    for (const harm of harms) {
      const fate = harm(request)
      if (fate !== 'pass') return fate
    }
    return 'pass'
  }
  const accept = (client: Socket): void => {
    client.on('error', () => undefined)
    if (brokerPort === null) return void client.destroy()
    const number = ++accepted
    const broker = connect(brokerPort, '127.0.0.1')
    const connection = new ProxiedConnection(client, broker, clock, (frame) => fateOf(frame, number))
    connections.set(number, connection)
    connection.ended.then(() => connections.delete(number))
  }
  const server = createServer(accept)
  const port = await listen(server, 'a proxy before a Kafka broker')
  return {
    port,
    connections: () => [...connections.keys()],
    forwardTo(next) {
      brokerPort = next
    },
    harm(harmful) {
      harms.add(harmful)
      return () => void harms.delete(harmful)
    },
    async stop() {
      const closed = close(server)
      for (const connection of connections.values()) connection.cut()
      await closed
    },
  }
}
