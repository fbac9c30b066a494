import type { Brokers } from '../brokers.ts'
import { type Fault, pause } from '../fault.ts'

/** Longer than a broker's session, so that others take over what it leads; it does not know when it goes on. */
const pausedMs = 8_000
const pausedMsMax = 20_000
const lookEveryMs = 500

/** SIGSTOP to a broker until the others have taken over, then SIGCONT: for a moment it answers as if it still led. */
export const pauseBroker = (brokers: Brokers): Fault => ({
  name: 'pause-broker',
  strikes: 'broker',
  async fire(signal) {
    const node = brokers.nextInTurn()
    const led = await brokers.ledBy(node.id)
    await node.kill('SIGSTOP')
    const beganMs = brokers.clock.now()
    try {
      await pause(brokers.clock, pausedMs, signal)
      while (!signal.aborted && brokers.clock.now() - beganMs < pausedMsMax) {
        const still = await brokers.ledBy(node.id).catch(() => led)
        if (still.size < led.size)
          return `broker ${node.id}, ${led.size - still.size} of its ${led.size} partitions taken over`
        await pause(brokers.clock, lookEveryMs, signal)
      }
      return null
    } finally {
      await node.kill('SIGCONT')
      await brokers.untilInSync(signal)
    }
  },
})
