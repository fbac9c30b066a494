import type { Fault } from '../fault.ts'
import { type Network, networkFault, transactionApis } from '../network.ts'

/** Longer than clients of other makers retry. */
const span = { lastsMs: 14_000, patienceMs: 10_000 }

/** For seconds on end every request of one API is served, and the connection is cut when the answer comes. APIs take turns. */
export function lostReply(network: Network): Fault {
  let turn = 0
  return networkFault(network, {
    name: 'lost-reply',
    said: 'served, their answers lost',
    ...span,
    begin: () => {
      const api = transactionApis[turn++ % transactionApis.length]
      return { proxies: network.proxies, fateOf: (request) => (request.api === api ? 'lose-answer' : 'pass') }
    },
  })
}
