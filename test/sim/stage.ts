import type { InvocationReport } from '../../lib/relay/invocation.ts'
import { type Ring, SimContainer } from './container.ts'
import type { Plan } from './plan.ts'
import { laneIds, type RecordKind, topics } from './sim-relay.ts'
import { SimSource } from './source.ts'
import { judgeRecords } from './visible.ts'
import { type Sabotage, World } from './world.ts'

/** How an invocation ended, lane by lane: `done`, `stopped CODE`, `failed CODE`, `left`; or the container died. */
export type Ended = readonly string[] | 'died'

/** A world in calm weather, in which a scenario does what it likes to whom it likes. */
export class Stage {
  readonly world: World
  readonly source: SimSource
  private containers = 0
  private requests = 0

  constructor(plan: Plan, sabotage: Sabotage = {}) {
    this.world = new World(plan, sabotage, true)
    this.world.weather.isRough = false
    this.source = new SimSource(this.world)
  }

  get lane(): string {
    return laneIds(this.world.plan.lanes)[0] ?? ''
  }

  container(generation = 1): Promise<SimContainer> {
    return SimContainer.start(this.world, `container-${++this.containers}`, generation)
  }

  /** Appends batches of records. */
  write(batches: number, partition = 0, kind?: RecordKind): void {
    for (let left = batches; left > 0; left--) this.source.append(partition, kind)
  }

  /** What a topic holds, transactions and markers aside. */
  values(topic: string): readonly string[] {
    const partitions = this.world.model.topics.find(topic)?.partitions ?? []
    return partitions.flatMap(({ log }) => judgeRecords(log.contents()).map(({ value }) => value))
  }

  /** A bell for all that is in the log of a partition, or for what is there from an offset on. */
  event(partition = 0, firstOffset = this.log(partition)?.startOffset ?? 0n): Ring {
    const log = this.log(partition)
    const lastOffset = (log?.endOffset ?? 1n) - 1n
    const records = () =>
      (log?.contents() ?? [])
        .flatMap((batch) => (batch.isControl ? [] : batch.records()))
        .filter(({ offset }) => offset >= firstOffset && offset <= lastOffset)
    return {
      kind: 'event',
      topic: topics.source,
      partitions: [{ partition, firstOffset, lastOffset, records }],
    }
  }

  async ring(container: SimContainer, ring: Ring): Promise<Ended> {
    const { judge, journal } = this.world
    const request = `request-${++this.requests}`
    journal.note(container.process.name, `${request} ${ring.kind}`)
    const answer = await container.invoke(ring, request)
    judge.heard(ring, answer)
    return endOf(answer)
  }

  sleep(ms: number): Promise<void> {
    return this.world.clock.sleep(ms)
  }

  private log(partition: number) {
    return this.world.model.topics.partition(topics.source, partition)?.log
  }
}

function endOf(answer: InvocationReport | Error | null): Ended {
  if (answer === null) return 'died'
  if (answer instanceof Error) return [`threw ${answer.message}`]
  return answer.lanes.map((lane) => {
    if (lane.kind === 'failed') return `failed ${lane.error.code}`
    return lane.kind === 'stopped' ? `stopped ${lane.code}` : lane.kind
  })
}
