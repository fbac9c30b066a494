import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { systemClock, systemRandom } from '../../lib/clock.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../lib/kafka/kafkajs-transport.ts'
import { type Api, apis } from '../../lib/kafka/protocol/generated/index.ts'
import type { NodeAddress, Transport, WireRequest } from '../../lib/kafka/transport.ts'
import { close, listen } from '../../lib/local/http-server.ts'

/** A fault that waits for its request; `fired` counts how often it struck. */
export interface Fault {
  readonly fired: number
  /** Lets everything pass again. */
  lift(): void
}

/** A request that has left its client and has not reached the broker. */
export interface Held extends Fault {
  /** Lets the copy arrive now, over a connection of its own, and waits for the broker's answer to it. */
  arrive(): Promise<Buffer>
}

export interface KafkaProxy {
  readonly port: number
  /** Names of the requests that came from clients, in order. */
  readonly requests: readonly Api[]
  /** The broker gets the next `times` requests of this api and acts on them; the connection is cut instead of the answer. */
  dropAnswers(api: Api, times?: number): Fault
  /** The next request of this api stays on the way, and the connection is cut. */
  hold(api: Api): Held
  /** From now on nothing of this api reaches the broker, and each connection that brings one is cut. */
  block(api: Api): Fault
  /** Lets `action` finish before the next request of this api reaches the broker; what comes after it on the connection waits. */
  before(api: Api, action: () => Promise<unknown>): Fault
  stop(): Promise<void>
}

interface Rule extends Fault {
  readonly api: Api
  readonly kind: 'drop-answer' | 'hold' | 'block' | 'before'
  left: number
  fired: number
  frame?: Buffer
  action?: () => Promise<unknown>
}

/** Stands between a client and one broker, understands the frames that pass, and breaks those that it is told to. */
async function startKafkaProxy(target: { readonly host: string; readonly port: number }): Promise<KafkaProxy> {
  const names = new Map<number, Api>(Object.values(apis).map(({ key, name }) => [key, name]))
  const rules: Rule[] = []
  const requests: Api[] = []
  const sockets = new Set<Socket>()

  const strike = (api: Api | undefined, kinds: readonly Rule['kind'][]): Rule | undefined => {
    const rule = rules.find((each) => each.api === api && each.left > 0 && kinds.includes(each.kind))
    if (rule === undefined) return undefined
    rule.left--
    rule.fired++
    return rule
  }

  const server = createServer((client) => {
    const broker = connect(target.port, target.host)
    const doomed = new Set<number>()
    let passedOn: Promise<unknown> = Promise.resolve()
    const cut = () => {
      client.destroy()
      broker.destroy()
    }
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    onFrames(client, (frame) => {
      const api = names.get(frame.readInt16BE(4))
      if (api !== undefined) requests.push(api)
      const stopped = strike(api, ['hold', 'block'])
      if (stopped !== undefined) {
        stopped.frame = frame
        return cut()
      }
      if (strike(api, ['drop-answer'])) doomed.add(frame.readInt32BE(8))
      const before = strike(api, ['before'])?.action
      passedOn = passedOn.then(before).then(() => broker.write(frame), cut)
    })
    onFrames(broker, (frame) => (doomed.has(frame.readInt32BE(4)) ? cut() : client.write(frame)))
  })
  const port = await listen(server, 'a proxy')

  const add = (api: Api, kind: Rule['kind'], left: number): Rule => {
    const rule: Rule = {
      api,
      kind,
      left,
      fired: 0,
      lift() {
        this.left = 0
      },
    }
    rules.push(rule)
    return rule
  }
  return {
    port,
    requests,
    dropAnswers: (api, times = 1) => add(api, 'drop-answer', times),
    block: (api) => add(api, 'block', Number.POSITIVE_INFINITY),
    before: (api, action) => Object.assign(add(api, 'before', 1), { action }),
    hold(api) {
      const rule = add(api, 'hold', 1)
      return {
        get fired() {
          return rule.fired
        },
        lift: () => rule.lift(),
        arrive() {
          if (rule.frame === undefined) throw new Error(`no ${api} was held`)
          return deliver(target, rule.frame)
        },
      }
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await close(server)
    },
  }
}

function onFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let pending = Buffer.alloc(0)
  socket.on('data', (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    while (pending.length >= 4 && pending.length >= 4 + pending.readInt32BE(0)) {
      const length = 4 + pending.readInt32BE(0)
      take(pending.subarray(0, length))
      pending = pending.subarray(length)
    }
  })
}

function deliver(target: { readonly host: string; readonly port: number }, frame: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(target.port, target.host)
    socket.on('error', reject)
    onFrames(socket, (answer) => {
      resolve(answer)
      socket.destroy()
    })
    socket.write(frame)
  })
}

/** Before the only broker of `brokers`, up to the end of the test that asks. */
export async function proxyBefore(brokers: readonly string[]): Promise<KafkaProxy> {
  const [host = '', port = ''] = (brokers[0] ?? '').split(':')
  const proxy = await startKafkaProxy({ host, port: Number(port) })
  onTestFinished(() => proxy.stop())
  return proxy
}

/** A cluster of one broker whose every connection goes through the proxy, whatever address the broker gives itself. */
export function clusterThrough(brokers: readonly string[], proxy: KafkaProxy): Cluster {
  const direct = createKafkaTransport({ clientId: 'fencepost-test', brokers: [...brokers] })
  const detour = (node: NodeAddress): NodeAddress => ({ ...node, host: '127.0.0.1', port: proxy.port })
  const transport: Transport = {
    bootstrap: direct.bootstrap,
    send: <A extends Api>(request: WireRequest<A>) => direct.send({ ...request, node: detour(request.node) }),
    capabilities: (node, deadline) => direct.capabilities(detour(node), deadline),
    close: () => direct.close(),
  }
  return createCluster(transport, systemClock, systemRandom)
}
