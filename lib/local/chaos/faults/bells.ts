import type { Clock } from '../../../clock.ts'
import type { ChaosOptions } from '../../esm-poller/chaos.ts'
import type { Poller } from '../../esm-poller/poller.ts'
import type { PollerStats } from '../../esm-poller/poller-event.ts'
import { type Fault, untilHit } from '../fault.ts'

/** What the event source mapping does wrong at this moment: the poller reads it at each batch. */
export interface BellDial extends ChaosOptions {
  overlap: number
  duplicate: number
}

export interface Bells {
  readonly dial: BellDial
  readonly poller: Poller
  readonly clock: Clock
}

const span = { lastsMs: 3_000, patienceMs: 20_000 }
/** Of all batches: an overlapping one is delivered again at once, so that all of them would be an endless flood. */
const share = 0.3

/** Batches are delivered again, cut otherwise, while their first invocations still run. */
export const overlap = (bells: Bells): Fault =>
  wrongBells('overlap', bells, 'overlap', ({ overlaps }) => overlaps, 'delivered while they were being worked on')

/** The same event twice: one after the other, or both at once. */
export const duplicateBells = (bells: Bells): Fault =>
  wrongBells('duplicate-bells', bells, 'duplicate', ({ duplicates }) => duplicates, 'delivered twice')

function wrongBells(
  name: string,
  { dial, poller, clock }: Bells,
  what: 'overlap' | 'duplicate',
  count: (stats: PollerStats) => number,
  said: string,
): Fault {
  return {
    name,
    strikes: 'bells',
    async fire(signal) {
      const before = count(poller.stats())
      const hits = () => count(poller.stats()) - before
      dial[what] = share
      try {
        return (await untilHit(clock, span, hits, signal)) ? `${hits()} batches ${said}` : null
      } finally {
        dial[what] = 0
      }
    },
  }
}
