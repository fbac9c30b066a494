import type { Clock, Random } from '../../clock.ts'
import type { Api } from '../../kafka/protocol/generated/index.ts'
import type { BrokerProxy, FateOf } from '../broker-proxy.ts'
import { type Fault, type Span, untilHit } from './fault.ts'

/** The network between the relay and the brokers, as faults see it. */
export interface Network {
  readonly proxies: readonly BrokerProxy[]
  readonly clock: Clock
  readonly random: Random
}

/** Harm to requests for a while, by the APIs that it hit. */
export interface NetworkHarm extends Span {
  readonly name: string
  /** Completes "12 Produce, 3 EndTxn ...". */
  readonly said: string
  /** Made anew each time: which proxies are harmed, and what becomes of a request. */
  readonly begin: () => { readonly proxies: readonly BrokerProxy[]; readonly fateOf: FateOf }
}

export function networkFault(network: Network, { name, said, begin, ...span }: NetworkHarm): Fault {
  return {
    name,
    strikes: name,
    async fire(signal) {
      const hits = new Map<Api | 'other', number>()
      const { proxies, fateOf } = begin()
      const counted: FateOf = (request) => {
        const fate = fateOf(request)
        const api = request.api ?? 'other'
        if (fate !== 'pass') hits.set(api, (hits.get(api) ?? 0) + 1)
        return fate
      }
      const heal = proxies.map((proxy) => proxy.harm(counted))
      try {
        await untilHit(network.clock, span, () => hits.size, signal)
      } finally {
        for (const undo of heal) undo()
      }
      if (hits.size === 0) return null
      const byCount = [...hits].sort(([, a], [, b]) => b - a)
      return `${byCount.map(([api, count]) => `${count} ${api}`).join(', ')} ${said}`
    },
  }
}

/** What a transaction consists of, in the order in which it is harmed by turns. */
export const transactionApis = ['Produce', 'EndTxn', 'TxnOffsetCommit', 'InitProducerId'] as const satisfies Api[]
