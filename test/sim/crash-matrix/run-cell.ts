import type { BellPartition } from '../../../lib/relay/bell.ts'
import { seconds } from '../../../lib/units.ts'
import { calmPlan } from '../calm.ts'
import type { Ring, SimContainer } from '../container.ts'
import { topics } from '../sim-relay.ts'
import { drain, settle } from '../simulate.ts'
import { type Ended, Stage } from '../stage.ts'
import type { Sabotage } from '../world.ts'
import type { Cell, FollowUp } from './cells.ts'
import type { LaneLife } from './steps.ts'
import { Strike } from './strike.ts'

export interface CellResult {
  readonly name: string
  /** Whether the fault happened, at its step. */
  readonly struck: boolean
  readonly violations: readonly string[]
  readonly timeline: readonly string[]
}

/** One lane, and windows so small that a bell takes several. */
export const laneShape = { sourcePartitions: 1, partitionsPerLane: 1, outputPartitions: 2, windowRecords: 4 }
const takeoverTriesMax = 40

/**
 * One fault at one step, then what rings next, then everything is drained without faults, and the judge looks: each record
 * once, in order, the offsets with the outputs, nothing left open. `sabotage`: of a relay that must be caught.
 */
export async function runCell(cell: Cell, sabotage: Sabotage = {}): Promise<CellResult> {
  const stage = new Stage(calmPlan(1, { protocol: cell.protocol, lanes: laneShape }), sabotage)
  const { world } = stage
  const { judge, journal } = world
  let struck = false
  try {
    struck = await world.clock.run(new Play(cell, stage).play())
  } catch (error) {
    judge.violations.push(`the run broke: ${error instanceof Error ? error.stack : String(error)}`)
  }
  if (!struck) judge.violations.push(`the fault did not strike at ${cell.step.name}`)
  return { name: cell.name, struck, violations: judge.violations, timeline: journal.lines }
}

class Play {
  private readonly cell: Cell
  private readonly stage: Stage
  private first: BellPartition | null = null

  constructor(cell: Cell, stage: Stage) {
    this.cell = cell
    this.stage = stage
  }

  async play(): Promise<boolean> {
    const { cell, stage } = this
    const [subject, successor] = [await stage.container(), await stage.container()]
    await prepare[cell.lane](stage, subject, successor)
    const strike = new Strike(cell, stage, subject.process)
    this.first = this.write(3)
    stage.world.script = strike.script
    const invocation = stage.ring(subject, ringOf(this.first))
    if (cell.fault === 'pause') {
      await Promise.race([strike.struck, invocation])
      if (strike.hasStruck) await this.takeOver(successor)
      subject.process.resume()
    }
    await invocation
    await this.ringOn(subject, successor)
    stage.world.script = {}
    await drain(stage.world)
    await settle(stage.world, stage.source)
    return strike.hasStruck
  }

  /** What rings next, and then two more bells, at whoever is alive: late copies need a transaction to arrive in. */
  private async ringOn(subject: SimContainer, successor: SimContainer): Promise<void> {
    const { stage, cell } = this
    const alive = [subject, successor].filter(({ process }) => !process.isDead)
    for (const container of alive) await this.untilDone(container, this.ring(cell.followUp))
    for (const container of alive) await this.untilDone(container, ringOf(this.write(1)))
    await stage.sleep(seconds(1))
  }

  /** The successor relays while the subject stands still. */
  private async takeOver(successor: SimContainer): Promise<void> {
    const { stage, cell } = this
    const { name } = successor.process
    let hasTaken = false
    stage.world.fences.onChange(({ after }) => {
      hasTaken ||= after.owner?.container === name
    })
    await this.untilDone(successor, this.ring(cell.followUp))
    if (!hasTaken) await this.untilDone(successor, ringOf(this.write(1)))
    if (!hasTaken) stage.world.judge.violations.push('nobody took the lane over while its owner stood still')
  }

  private async untilDone(container: SimContainer, ring: Ring): Promise<Ended> {
    let ended: Ended = []
    for (let tries = 1; tries <= takeoverTriesMax; tries++) {
      ended = await this.stage.ring(container, ring)
      if (ended === 'died' || ended.every((end) => end === 'done')) return ended
      await this.stage.sleep(seconds(1))
    }
    this.stage.world.judge.violations.push(`rung ${takeoverTriesMax} times without faults, and still ${ended}`)
    return ended
  }

  private ring(followUp: FollowUp): Ring {
    if (followUp === 'pull' || this.first === null) return { kind: 'pull', lingerUntilMs: null }
    if (followUp === 'same-event') return ringOf(this.first)
    const { firstOffset, lastOffset } = this.first
    return ringOf({ ...this.write(1), firstOffset: (firstOffset + lastOffset) / 2n })
  }

  /** Appends batches. Answers what an event source mapping would deliver of them. */
  private write(batches: number): BellPartition {
    const end = () => this.stage.world.model.topics.partition(topics.source, 0)?.log.endOffset ?? 0n
    const firstOffset = end()
    this.stage.write(batches)
    return { partition: 0, firstOffset, lastOffset: end() - 1n, records: () => [] }
  }
}

const ringOf = (partition: BellPartition): Ring => ({ kind: 'event', topic: topics.source, partitions: [partition] })

/** Makes the lane what the subject shall find. */
export const prepare: Record<
  LaneLife,
  (stage: Stage, subject: SimContainer, successor: SimContainer) => Promise<void>
> = {
  new: async () => {},
  'handed-over': async (stage, _subject, successor) => {
    stage.write(2)
    await stage.ring(successor, stage.event())
  },
  warm: async (stage, subject) => {
    stage.write(2)
    await stage.ring(subject, stage.event())
  },
  'after-death': async (stage, _subject, successor) => {
    stage.write(1)
    await stage.ring(successor, stage.event())
    stage.write(1)
    const victim = await stage.container()
    stage.world.script = { transform: (process) => process === victim.process && process.die() }
    await stage.ring(victim, stage.event())
    await stage.sleep(stage.world.plan.timing.leaseMs + seconds(1))
  },
}
