import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createKafkaTransport } from '../../../lib/kafka/kafkajs-transport.ts'
import type { SecuritySource } from '../../../lib/kafka/security.ts'
import type { NodeAddress } from '../../../lib/kafka/transport.ts'
import { close, listen } from '../../../lib/local/http-server.ts'
import { within } from '../../helpers/kafka-client.ts'

let server: Server
afterEach(() => close(server))

/** A broker that gets as far as refusing a log-in, with `message`. Answers where it listens. */
async function refusingBroker(message: string): Promise<NodeAddress> {
  server = createServer((socket) => socket.on('data', (request) => answer(socket, request, message)))
  return { nodeId: -1, host: '127.0.0.1', port: await listen(server, 'a refusing broker') }
}

/** Every request comes in one piece: they are small and go one at a time. */
function answer(socket: Socket, request: Buffer, message: string): void {
  const body = bodies[request.readInt16BE(4)]?.(message) ?? Buffer.alloc(0)
  const head = Buffer.alloc(8)
  head.writeInt32BE(4 + body.length, 0)
  request.copy(head, 4, 8, 12)
  socket.write(Buffer.concat([head, body]))
}

const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff])
const int32 = (value: number): Buffer => Buffer.concat([int16(value >> 16), int16(value)])
const text = (value: string): Buffer => Buffer.concat([int16(value.length), Buffer.from(value)])

/** Of ApiVersions 2, SaslHandshake 1 and SaslAuthenticate 1. */
const bodies: Readonly<Record<number, (message: string) => Buffer>> = {
  18: () =>
    Buffer.concat([int16(0), int32(2), ...[17, 36].flatMap((api) => [int16(api), int16(0), int16(1)]), int32(0)]),
  17: () => Buffer.concat([int16(0), int32(1), text('OAUTHBEARER')]),
  36: (message) => Buffer.concat([int16(58), text(message), int32(0), int32(0), int32(0)]),
}

test.each([
  ['[3f2a] Too many connects', 'throttled', 0],
  ['[3f2a] Access denied', 'authentication', 1],
])('a log-in refused with "%s" is %s, and new credentials are asked for %i times', async (message, reason, times) => {
  const node = await refusingBroker(message)
  let renewals = 0
  const shown = { sasl: { mechanism: 'oauthbearer', token: async () => 'token' } } as const
  const security: SecuritySource = {
    current: async () => shown,
    async renewed() {
      renewals++
      return null
    },
  }
  const transport = createKafkaTransport({ clientId: 'test', brokers: [`127.0.0.1:${node.port}`], security })
  const error = await transport.capabilities(node, within(5_000)).catch((thrown: unknown) => thrown)
  await transport.close()
  expect(error).toMatchObject({ reason, sent: false, message: expect.stringContaining(message) })
  expect(renewals).toBe(times)
})
