import type { Brokers } from '../brokers.ts'
import { type Fault, pause } from '../fault.ts'

const awayMsMin = 2_000
const awayMsMore = 4_000

/** kill -9 to one broker after another; each comes back, and all copies are in sync again, before the next. */
export const killBroker = (brokers: Brokers): Fault => ({
  name: 'kill-broker',
  strikes: 'broker',
  async fire(signal) {
    const node = brokers.nextInTurn()
    const led = await brokers.ledBy(node.id)
    await node.kill('SIGKILL')
    await pause(brokers.clock, awayMsMin + brokers.random.fraction() * awayMsMore, signal)
    if (signal.aborted) return null // everything is being stopped
    await node.restart()
    await brokers.untilInSync(signal)
    return `broker ${node.id}, leader of ${led.size} partitions`
  },
})
