import type { Fault } from '../fault.ts'
import { type Network, networkFault } from '../network.ts'

const span = { lastsMs: 8_000, patienceMs: 20_000 }
const oneOf = 3

/** One of three commits is lost with its connection before a broker has it: the window is aborted and relayed anew. */
export function randomAborts(network: Network): Fault {
  let commits = 0
  return networkFault(network, {
    name: 'random-aborts',
    said: 'lost on their way, so that their windows are aborted',
    ...span,
    begin: () => ({
      proxies: network.proxies,
      fateOf: ({ api }) => (api === 'EndTxn' && commits++ % oneOf === 0 ? 'lose-request' : 'pass'),
    }),
  })
}
