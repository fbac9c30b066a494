import type { Fault } from '../fault.ts'
import { type Network, networkFault } from '../network.ts'

const span = { lastsMs: 4_000, patienceMs: 20_000 }

/** The connections that stand to one broker go silent: requests vanish, and nobody closes anything. New ones work. */
export function halfOpen(network: Network): Fault {
  let turn = 0
  return networkFault(network, {
    name: 'half-open',
    said: 'vanished on half-open connections',
    ...span,
    begin: () => {
      const proxies = network.proxies.slice(turn % network.proxies.length).slice(0, 1)
      turn++
      const silent = new Set(proxies.flatMap((proxy) => proxy.connections()))
      return { proxies, fateOf: ({ connection }) => (silent.has(connection) ? 'silence' : 'pass') }
    },
  })
}
