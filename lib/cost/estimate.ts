import { triggerOf } from '../../infra/trigger.ts'
import { refuseIfAny } from '../problems.ts'
import { type Bill, billFor } from './bill.ts'
import { assumptions } from './figures.ts'
import { type Load, loadProblems } from './load.ts'
import { type Way, type WayName, waysFor } from './ways.ts'

export interface Offer extends Bill {
  readonly name: WayName
  readonly p99Ms: number
  readonly meetsLatency: boolean
  readonly keepsUp: boolean
  /** Of what its busiest part can take; above 0.6 it does not keep up. */
  readonly busy: number
}

export interface Estimate {
  readonly load: Load
  readonly offers: readonly Offer[]
  /** What `serverless deploy` sets up for the latency asked for. */
  readonly deployed: WayName
  /** Of those of Fencepost that keep up and meet the latency; null: none does. */
  readonly cheapest: WayName | null
}

/** A wish for 5 s is met by a batching window of 5 s and the little that comes on top of it. */
const latencySlack = 1.2

/**
 * A month of a steady load, each way to relay it side by side. An estimate: docs/operations/cost.md has the formula, and
 * what is measured and what is assumed in it.
 * @throws RelayError CONFIG_INVALID naming every value that is out of bounds
 */
export function estimate(load: Load): Estimate {
  refuseIfAny('cost', loadProblems(load))
  const offers = waysFor(load).map((way) => offerOf(way, load))
  const ours = offers.filter(({ name, keepsUp, meetsLatency }) => name !== 'flink' && keepsUp && meetsLatency)
  const [cheapest] = ours.toSorted((a, b) => a.usd - b.usd)
  const { kind } = triggerOf({ latency: load.latencyMs, trigger: undefined, pollers: undefined })
  return { load, offers, deployed: kind, cheapest: cheapest?.name ?? null }
}

const offerOf = ({ name, usage, p99Ms, busy }: Way, { latencyMs }: Load): Offer => ({
  name,
  ...billFor(usage),
  p99Ms,
  meetsLatency: p99Ms <= latencyMs * latencySlack,
  keepsUp: busy <= assumptions.busyMax,
  busy,
})
