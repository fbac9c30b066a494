import { type Fault, untilHit } from '../fault.ts'
import type { Bells } from './bells.ts'

const span = { lastsMs: 0, patienceMs: 20_000 }

/** The event source mapping scales down or up: partitions move between pollers while invocations run. */
export const rebalance = ({ poller, clock }: Omit<Bells, 'dial'>, full: number): Fault => ({
  name: 'rebalance',
  strikes: 'bells',
  async fire(signal) {
    const from = poller.assignment().length
    const to = from === full ? Math.ceil(full / 2) : full
    const before = poller.stats().rebalances
    const hits = () => poller.stats().rebalances - before
    await poller.scale(to)
    return (await untilHit(clock, span, hits, signal)) ? `${from} pollers became ${to}` : null
  },
})
