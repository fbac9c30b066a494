import type { PromisePlan } from './promises.ts'

/** How often each output topic shows a record. */
export interface Counts {
  readonly out: number
  readonly audit: number
  readonly dead: number
}

/** One record of the source, and what became of it. */
export interface Outcome {
  readonly offset: bigint
  readonly found: Counts
  /** What the relay makes of it, once. */
  readonly wanted: Counts
  /** The same, and what an attempt that came to nothing may have left. */
  readonly possible: Counts
}

export interface PartitionFacts {
  readonly committed: bigint
  readonly isStopped: boolean
  readonly windowRecords: number
  /** From here on records were relayed without any fault; null: not known. */
  readonly calmFrom: bigint | null
}

/** How often each output of a record must be there, and may. */
export interface Bounds {
  readonly least: Counts
  readonly most: Counts
}

/** Of the records of one partition, in order: what the promise wants of each. */
export type Promised = (outcomes: readonly Outcome[], facts: PartitionFacts) => readonly Bounds[]

const nothing: Counts = { out: 0, audit: 0, dead: 0 }

/** Below the committed offset everything once, above it nothing. */
const exactlyOnce: Promised = (outcomes, { committed, isStopped }) => {
  let isBehind = false
  return outcomes.map(({ offset, found, wanted }) => {
    // a lane that stopped has relayed a beginning of its source, whatever became of the offsets
    if (isStopped) isBehind ||= isSame(found, nothing) && !isSame(wanted, nothing)
    else isBehind = offset >= committed
    const counts = isBehind ? nothing : wanted
    return { least: counts, most: counts }
  })
}

/**
 * Below the committed offset everything, as often as it was tried. A lane that stopped has relayed a beginning of its
 * source and perhaps parts of one window more: every attempt begins where the last commit ended.
 */
const atLeastOnce: Promised = (outcomes, { committed, isStopped, windowRecords }) => {
  let sinceGap = 0
  return outcomes.map(({ offset, found, wanted, possible }) => {
    if (isStopped && (sinceGap > 0 || isShort(found, wanted))) sinceGap++
    const least = isStopped || offset >= committed ? nothing : wanted
    return { least, most: sinceGap > windowRecords ? nothing : often(possible) }
  })
}

/** Nothing that the source does not give; and whatever was relayed while nothing failed. */
const noGuarantee: Promised = (outcomes, { committed, isStopped, calmFrom }) =>
  outcomes.map(({ offset, wanted, possible }) => {
    const isDue = !isStopped && calmFrom !== null && offset >= calmFrom && offset < committed
    return { least: isDue ? wanted : nothing, most: often(possible) }
  })

export const promised: Readonly<Record<PromisePlan['guarantee'], Promised>> = {
  'exactly-once': exactlyOnce,
  'at-least-once': atLeastOnce,
  none: noGuarantee,
}

export const isWithin = (found: Counts, { least, most }: Bounds): boolean =>
  !isShort(found, least) && !isShort(most, found)

const isShort = (found: Counts, wanted: Counts): boolean =>
  found.out < wanted.out || found.audit < wanted.audit || found.dead < wanted.dead

const isSame = (one: Counts, other: Counts): boolean => !isShort(one, other) && !isShort(other, one)

const often = ({ out, audit, dead }: Counts): Counts => ({
  out: out > 0 ? Infinity : 0,
  audit: audit > 0 ? Infinity : 0,
  dead: dead > 0 ? Infinity : 0,
})
