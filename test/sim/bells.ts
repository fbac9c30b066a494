import type { Bell, BellPartition } from '../../lib/relay/bell.ts'
import type { Dice } from './dice.ts'
import type { FunctionAnswer } from './functions.ts'
import { topics } from './sim-relay.ts'
import type { World } from './world.ts'

/**
 * Who rings. An event source mapping reads each partition on its own and delivers a batch until it is answered with
 * success; the schedule rings without knowing anything.
 */
export class SimBells {
  private readonly world: World
  private readonly dice: Dice
  private isRinging = true

  constructor(world: World) {
    this.world = world
    this.dice = world.dice.fork('bells')
  }

  /** Resolves when the last delivery has ended. */
  async ring(untilMs: number): Promise<void> {
    const partitions = Array.from({ length: this.world.plan.lanes.sourcePartitions }, (_, partition) => partition)
    const stop = this.world.clock.sleep(Math.max(0, untilMs - this.world.clock.now())).then(() => {
      this.isRinging = false
    })
    await Promise.all([...partitions.map((partition) => this.poll(partition)), this.pull(), stop])
  }

  private async poll(partition: number): Promise<void> {
    const { clock, journal, plan } = this.world
    let position = 0n
    while (this.isRinging) {
      await clock.sleep(this.dice.between(20, 400))
      const batch = this.batch(partition, position, this.dice.between(1, plan.bells.batchMax))
      if (batch === null) continue
      if (this.dice.chance(plan.bells.miss)) journal.fault('bell-missed', 'bells', `${partition} ${batch.lastOffset}`)
      else await this.deliver(batch)
      position = batch.lastOffset + 1n
    }
  }

  private async deliver(first: BellPartition): Promise<void> {
    const { clock, journal, plan } = this.world
    let batch = first
    while (this.isRinging) {
      const answer = await this.invoke(batch)
      if (answer === 'success') break
      await clock.sleep(this.dice.between(50, 800))
      if (!this.dice.chance(plan.bells.recompose)) continue
      const other = this.batch(batch.partition, batch.firstOffset, this.dice.between(1, plan.bells.batchMax))
      if (other === null) continue
      journal.fault('batch-recomposed', 'bells')
      batch = other
    }
    if (!this.isRinging || !this.dice.chance(plan.bells.duplicate)) return
    journal.fault('bell-duplicated', 'bells')
    await this.invoke(batch)
  }

  /** Sometimes another poller, who took the partition over, delivers the same a little later. */
  private async invoke(batch: BellPartition): Promise<FunctionAnswer> {
    const { clock, functions, journal, plan } = this.world
    const bell: Bell = { kind: 'event', topic: topics.source, partitions: [batch] }
    const first = functions.invoke(bell)
    if (!this.dice.chance(plan.bells.overlap)) return first
    journal.fault('bell-overlapped', 'bells')
    await clock.sleep(this.dice.between(0, 60))
    const answers = await Promise.all([first, functions.invoke(bell)])
    return answers.includes('failure') ? 'failure' : 'success'
  }

  private async pull(): Promise<void> {
    const { clock, functions, plan } = this.world
    while (this.isRinging) {
      await clock.sleep(this.dice.between(plan.bells.pullEveryMs / 2, plan.bells.pullEveryMs * 1.5))
      if (!this.isRinging) return
      if (this.dice.chance(plan.bells.sweep)) {
        await functions.invoke({ kind: 'sweep' })
        continue
      }
      const lingers = this.dice.chance(plan.bells.linger)
      await functions.invoke({ kind: 'pull', lingerUntilMs: lingers ? clock.now() + plan.bells.pullEveryMs : null })
    }
  }

  /** Of data records only: markers take up offsets, but no event carries them. */
  private batch(partition: number, position: bigint, records: number): BellPartition | null {
    const log = this.world.model.topics.partition(topics.source, partition)?.log
    const data = log?.contents().filter((batch) => !batch.isControl && batch.lastOffset >= position) ?? []
    const known = data.flatMap((batch) => batch.records())
    const taken = known.filter(({ offset }) => offset >= position).slice(0, records)
    const [first, last] = [taken[0], taken.at(-1)]
    if (first === undefined || last === undefined) return null
    return { partition, firstOffset: first.offset, lastOffset: last.offset, records: () => taken }
  }
}
