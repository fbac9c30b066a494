import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  /** Connections accepted so far. */
  readonly accepted: number
  /** Cuts all connections that stand. Answers how many there were. */
  cut(): number
  /** From now on nothing comes back from the broker, as on a half-open connection; requests still arrive there. */
  muteAnswers(): void
  /** Connections accepted from now on are closed at once. */
  refuse(): void
  stop(): Promise<void>
}

/** Stands between a client and a broker, and breaks what passes. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly Socket[]>()
  const state = { accepted: 0, muted: false, refusing: false }
  const server = createServer((client) => {
    state.accepted++
    client.on('error', () => undefined)
    if (state.refusing) {
      client.destroy()
      return
    }
    const broker = connect(target.port, target.host).on('error', () => undefined)
    const pair = [client, broker]
    pairs.add(pair)
    client.on('data', (bytes) => broker.write(bytes))
    broker.on('data', (bytes) => state.muted || client.write(bytes))
    for (const socket of pair) socket.on('close', () => end(pair))
  })
  const end = (pair: readonly Socket[]) => {
    pairs.delete(pair)
    for (const socket of pair) socket.destroy()
  }
  const cut = () => {
    const standing = [...pairs]
    standing.forEach(end)
    return standing.length
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return state.accepted
    },
    cut,
    muteAnswers: () => {
      state.muted = true
    },
    refuse: () => {
      state.refusing = true
    },
    stop: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
