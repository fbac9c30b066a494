import { connect } from 'node:net'

const timeoutMs = 2000
const metadataKey = 3
const metadataVersion = 4

/** A Metadata 4 request for no topic. Written by hand: a probe must not depend on the layers that it readies a broker for. */
function metadataRequest(): Buffer {
  const request = Buffer.alloc(19)
  request.writeInt32BE(15, 0)
  request.writeInt16BE(metadataKey, 4)
  request.writeInt16BE(metadataVersion, 6)
  request.writeInt32BE(1, 8)
  request.writeInt16BE(-1, 12)
  request.writeInt32BE(0, 14)
  return request
}

/** Broker ids of a Metadata 4 response without its size: correlation id, throttle time, then id, host, port, rack each. */
export function brokerIds(response: Buffer): readonly number[] {
  let at = 8
  const skipString = (): void => {
    at += 2 + Math.max(0, response.readInt16BE(at))
  }
  const ids: number[] = []
  const count = response.readInt32BE(at)
  at += 4
  while (ids.length < count) {
    ids.push(response.readInt32BE(at))
    at += 4
    skipString()
    at += 4
    skipString()
  }
  return ids
}

/** The ids of the live brokers as the broker at this port sees them; empty while it doesn't serve. */
export function brokersSeenAt(port: number): Promise<readonly number[]> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const socket = connect({ host: '127.0.0.1', port })
    const finish = (ids: readonly number[]): void => {
      socket.destroy()
      resolve(ids)
    }
    socket.setTimeout(timeoutMs, () => finish([]))
    socket.once('error', () => finish([]))
    socket.once('close', () => resolve([]))
    socket.once('connect', () => socket.write(metadataRequest()))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return
      finish(brokerIds(received.subarray(4)))
    })
  })
}
