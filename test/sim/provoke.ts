import { seconds } from '../../lib/units.ts'
import type { Dice } from './dice.ts'
import { laneIds, group as relayGroup, topics } from './sim-relay.ts'
import type { World } from './world.ts'

/** The last epoch in which a producer id may begin a transaction is near: some windows later it is used up. */
const epochsUsed = 32_755

/** What other hands and long times do to a lane: once a run, at a moment of its own. */
export class Provocations {
  private readonly world: World
  private readonly dice: Dice
  private firstProducers = new Map<string, bigint>()

  constructor(world: World) {
    this.world = world
    this.dice = world.dice.fork('provocation')
  }

  /** Before the first bell. */
  prepare(): void {
    if (this.world.plan.provocation === 'epoch-exhausted') this.useUpEpochs()
  }

  async strike(untilMs: number): Promise<void> {
    const { clock, plan } = this.world
    const atMs = () => clock.sleep(this.dice.between(0, Math.max(0, untilMs - clock.now()) / 2))
    switch (plan.provocation) {
      case 'table-restored':
        await atMs()
        return this.restoreTable(await this.world.fences.records(), atMs)
      case 'table-lost':
        await atMs()
        return this.loseTable()
      case 'older-deployment':
        await atMs()
        return this.deploy(atMs)
      case 'retention-passed':
        await atMs()
        return this.deleteRecords()
      case 'topic-recreated':
        await atMs()
        return this.recreateSource()
      case 'offset-moved':
        await atMs()
        return this.moveOffset()
    }
  }

  /** When all is over: which of the slow ones have happened. */
  conclude(): void {
    const { journal, model } = this.world
    for (const [id, producerId] of this.firstProducers) {
      const now = model.transactions.find(id)?.producerId
      if (now !== undefined && now !== producerId) journal.fault('epoch-exhausted', id)
    }
  }

  private useUpEpochs(): void {
    const { transactions } = this.world.model
    const ask = { timeoutMs: seconds(60), expected: { producerId: -1n, producerEpoch: -1 } }
    for (const transactionalId of laneIds(this.world.plan.lanes)) {
      const epoch = epochsUsed + this.dice.between(0, 12)
      for (let used = 0; used < epoch; used++) transactions.init({ transactionalId, ...ask })
      this.firstProducers.set(transactionalId, transactions.find(transactionalId)?.producerId ?? -1n)
    }
  }

  private async restoreTable(backup: Awaited<ReturnType<World['fences']['records']>>, later: () => Promise<void>) {
    await later()
    // a record that comes back with the token of its last owner does not show its age: to stop by name is all that is left
    for (const code of ['OFFSET_MOVED', 'PREFIX_SHARED']) this.world.judge.expectedStops.add(code)
    this.world.journal.fault('table-restored', 'operator', backup.map(({ id, token }) => `${id} token ${token}`).join())
    await this.world.fences.restore(backup)
  }

  private async loseTable(): Promise<void> {
    this.world.journal.fault('table-lost', 'operator')
    await this.world.fences.restore([])
  }

  private async deploy(later: () => Promise<void>): Promise<void> {
    const { functions, journal } = this.world
    functions.generation = 2
    journal.note('operator', 'deploys generation 2')
    await later()
    if (!this.dice.chance(0.5)) return
    functions.generation = 1
    journal.note('operator', 'rolls back to generation 1')
  }

  private deleteRecords(): void {
    const { journal, judge, model } = this.world
    const source = model.topics.find(topics.source)?.partitions ?? []
    const { partition, log } = this.dice.pick(source)
    const ahead = Number(log.endOffset - log.startOffset)
    if (ahead === 0 || !judge.hasCommittedAll) return
    const until = log.startOffset + BigInt(this.dice.between(1, ahead))
    judge.archive()
    judge.expectedStops.add('SOURCE_TRUNCATED')
    journal.fault('retention-passed', 'brokers', `${partition} begins at ${until}`)
    log.deleteBefore(until)
  }

  private async recreateSource(): Promise<void> {
    const { clock, journal, judge, model, plan } = this.world
    if (!judge.hasCommittedAll) return
    judge.archive()
    // the offsets go with the topic: a container that still believes in the old one finds them lost
    const codes = ['SOURCE_REPLACED', 'TOPIC_MISSING', 'OFFSETS_LOST', 'EVENT_INVALID']
    for (const code of codes) judge.expectedStops.add(code)
    journal.fault('topic-recreated', 'operator')
    model.deleteTopic(topics.source)
    if (this.dice.chance(0.3)) await clock.sleep(this.dice.between(1, 2_000))
    model.createTopic({ name: topics.source, partitions: plan.lanes.sourcePartitions })
  }

  private moveOffset(): void {
    const { clock, journal, judge, model } = this.world
    if (!judge.hasCommittedAll) return
    const { partition, log } = this.dice.pick(model.topics.find(topics.source)?.partitions ?? [])
    const coordinator = model.groupCoordinator(model.groupPartition(relayGroup).partition)
    for (const code of ['OFFSET_MOVED', 'OFFSET_REGRESSED', 'OFFSETS_LOST']) judge.expectedStops.add(code)
    const place = { topic: topics.source, partition }
    if (this.dice.chance(0.3)) {
      journal.fault('offset-moved', 'operator', `${partition} deleted`)
      coordinator.deleteOffset(relayGroup, place)
      return
    }
    const offset = BigInt(this.dice.between(0, Number(log.endOffset) + 5))
    journal.fault('offset-moved', 'operator', `${partition} to ${offset}`)
    coordinator.commit(relayGroup, [{ ...place, offset, leaderEpoch: -1, metadata: '' }], clock.now())
  }
}
