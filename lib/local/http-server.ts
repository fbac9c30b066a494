import type { Server as HttpServer } from 'node:http'
import type { Server } from 'node:net'
import { RelayError } from '../errors.ts'
import { freePorts } from './ports.ts'

const triesMax = 5

/**
 * Listens on 127.0.0.1: on `port`, or on a free one that stays free for a restart (see ports.ts). Answers the port.
 * @throws RelayError LOCAL_STACK when `port` is taken.
 */
export async function listen(server: Server, what: string, port?: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    const chosen = port ?? Number((await freePorts(1))[0])
    try {
      await bind(server, chosen)
      return chosen
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (taken && port === undefined && tries < triesMax) continue
      throw new RelayError(
        'LOCAL_STACK',
        taken
          ? `Port ${chosen} on 127.0.0.1 is taken, and ${what} should listen there; stop what listens (lsof -i :${chosen}) or choose another port.`
          : `${what} cannot listen on 127.0.0.1:${chosen}.`,
        { cause: error, context: { port: chosen } },
      )
    }
  }
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Also ends HTTP connections that clients keep open. */
export function close(server: Server | HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
}
