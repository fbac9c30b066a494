import { type LaneLife, lanes, type Step, steps } from './steps.ts'

/**
 * - `crash`: the process is gone.
 * - `lost-answer`: the connection is cut, or the table fails: at once, and whoever waits is told.
 * - `silence`: nobody is told; the client gives up when its time is over.
 * - `pause`: the process stands still until a successor has taken the lane over and relayed, then it goes on.
 * - `late-copy`: the client sees a cut and sends again; the first copy arrives within the next transaction of the lane.
 */
export const faults = ['crash', 'lost-answer', 'silence', 'pause', 'late-copy'] as const
export type Fault = (typeof faults)[number]

/** Of the step's effect. Of a late copy: before or after the next transaction has its offsets. */
export const sides = ['before', 'after'] as const
export type Side = (typeof sides)[number]

/** What rings next. `recut`: an event that begins in the middle of the first one and holds newer records as well. */
export const followUps = ['same-event', 'recut', 'pull'] as const
export type FollowUp = (typeof followUps)[number]

export interface Cell {
  readonly name: string
  readonly protocol: 1 | 2
  readonly lane: LaneLife
  readonly step: Step
  readonly side: Side
  readonly fault: Fault
  readonly followUp: FollowUp
}

/** Cells that cannot be, all those of one reason together. */
export interface Impossible {
  readonly cells: string
  readonly count: number
  readonly reason: string
}

const protocols = [2, 1] as const
const brokers = { 1: 'kafka-3', 2: 'kafka-4' } as const

const everyCell: readonly Cell[] = protocols.flatMap((protocol) =>
  lanes.flatMap((lane) =>
    steps.flatMap((step) =>
      sides.flatMap((side) =>
        faults.flatMap((fault) =>
          followUps.map((followUp) => ({
            name: [brokers[protocol], lane, step.name, side, fault, followUp].join('.'),
            protocol,
            lane,
            step,
            side,
            fault,
            followUp,
          })),
        ),
      ),
    ),
  ),
)

const isTableStep = ({ name }: Step): boolean =>
  ['acquire', 'confirm', 'note-first', 'note-dirty', 'announce', 'release'].includes(name)
const isRead = ({ name }: Step): boolean =>
  ['look', 'read-committed', 'fetch', 'confirm-offsets', 'offsets-stand', 'offsets-hold'].includes(name)

/** Why a cell cannot be; null: it can. */
function hindrance({ protocol, lane, step, side, fault }: Cell): { cells: string; reason: string } | null {
  if (step.onlyOlder && protocol === 2) {
    return { cells: `kafka-4.*.${step.name}`, reason: 'asked on the older protocol only (docs/adr)' }
  }
  if (!step.lanes.includes(lane)) return { cells: `*.${lane}.${step.name}`, reason: step.elsewhere }
  const cells = `*.${step.name}.*.${fault}`
  const isRequest = fault === 'lost-answer' || fault === 'silence' || fault === 'late-copy'
  if (step.name === 'transform' && isRequest) return { cells, reason: 'the relay code runs here, nothing is asked' }
  if (step.name === 'transform' && side === 'after') {
    return { cells: '*.transform.after', reason: 'what comes next is the join: join-partitions.before' }
  }
  if (isTableStep(step) && fault === 'silence') {
    return { cells, reason: "the table's client ends every request itself: the same as lost-answer" }
  }
  if (isTableStep(step) && fault === 'late-copy') {
    return { cells, reason: 'no request to a broker; late writes of the table are in npm run sim' }
  }
  if (isRead(step) && fault === 'late-copy') return { cells, reason: 'a read that arrives late changes nothing' }
  return null
}

export const cells: readonly Cell[] = everyCell.filter((cell) => hindrance(cell) === null)

export const impossible: readonly Impossible[] = [
  ...Map.groupBy(
    everyCell.flatMap((cell) => hindrance(cell) ?? []),
    ({ cells: pattern, reason }) => `${pattern}: ${reason}`,
  ).values(),
].map((alike) => ({ cells: alike[0]?.cells ?? '', count: alike.length, reason: alike[0]?.reason ?? '' }))
