import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { brokerIds, brokersSeenAt } from '../../../lib/local/kafka-probe.ts'
import { freePorts } from '../../../lib/local/ports.ts'

/** A Metadata 4 response with two brokers, one of them in a rack. */
const response = Buffer.from(
  ['00000001', '00000000', '00000002', '00000001', '0001', '61', '00002384', 'ffff'].join('') +
    ['00000007', '0002', '6262', '00002385', '0002', '7231', 'ffff', '00000001', '00000000'].join(''),
  'hex',
)

test('broker ids are read past host names and racks', () => {
  expect(brokerIds(response)).toEqual([1, 7])
})

test('nobody listens: no broker is seen', async () => {
  const [port = 0] = await freePorts(1)
  expect(await brokersSeenAt(port)).toEqual([])
})

test('an answer in pieces is read whole', async () => {
  const [port = 0] = await freePorts(1)
  const size = Buffer.alloc(4)
  size.writeInt32BE(response.length)
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([size, response.subarray(0, 5)]), () => socket.write(response.subarray(5)))
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(await brokersSeenAt(port)).toEqual([1, 7])
  server.close()
})

test('a server that hangs up is no broker', async () => {
  const [port = 0] = await freePorts(1)
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(await brokersSeenAt(port)).toEqual([])
  server.close()
})
