import type { Fault } from '../fault.ts'
import { type Network, networkFault } from '../network.ts'

const span = { lastsMs: 6_000, patienceMs: 10_000 }
const delayMsMin = 20
const delayMsMore = 800

/** Each request to any broker takes a part of a second longer, never the same. */
export const delay = (network: Network): Fault =>
  networkFault(network, {
    name: 'delay',
    said: 'delayed by up to 0.8 s each',
    ...span,
    begin: () => ({
      proxies: network.proxies,
      fateOf: () => ({ delayMs: delayMsMin + network.random.fraction() * delayMsMore }),
    }),
  })
