import type { Fault } from '../fault.ts'
import { type Network, networkFault, transactionApis } from '../network.ts'

const span = { lastsMs: 5_000, patienceMs: 20_000 }
/** Longer than a client waits for one answer: it has sent the request again, or given up, when this copy arrives. */
const delayMsMin = 5_500
const delayMsMore = 3_000
const oneOf = 4

/** One of four requests of a transaction arrives seconds after its client gave it up, maybe in the middle of the next one. */
export function lateCopies(network: Network): Fault {
  const harmed = new Set<string>(transactionApis)
  let requests = 0
  return networkFault(network, {
    name: 'late-copies',
    said: 'held back until their senders had given up, then delivered',
    ...span,
    begin: () => ({
      proxies: network.proxies,
      fateOf: ({ api }) =>
        api !== null && harmed.has(api) && requests++ % oneOf === 0
          ? { delayMs: delayMsMin + network.random.fraction() * delayMsMore }
          : 'pass',
    }),
  })
}
