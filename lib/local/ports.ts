import { createServer } from 'node:net'
import { RelayError } from '../errors.ts'

/**
 * Below 32768, where no system hands out ports to outgoing connections: a broker that is killed must find its port
 * free when it comes back.
 */
const lowest = 15_000
const highest = 32_000

/** True when a server could listen on the port now. Somebody may take it in the next moment: callers retry. */
export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** @throws RelayError LOCAL_STACK */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1000) {
      throw new RelayError(
        'LOCAL_STACK',
        `Found ${ports.size} free ports of ${count} between ${lowest} and ${highest}; stop some servers.`,
      )
    }
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    if (await portIsFree(port)) ports.add(port)
  }
  return [...ports]
}
