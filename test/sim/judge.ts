import type { RelayError } from '../../lib/errors.ts'
import type { FenceRecord } from '../../lib/fencing/fence-record.ts'
import type { FetchedBatch } from '../../lib/kafka/record-batch/decode.ts'
import type { InvocationReport } from '../../lib/relay/invocation.ts'
import { deadLetterHeaders } from '../../lib/relay/transform/dead-letter.ts'
import type { ModelTopic } from '../../lib/testing/broker-model/topics.ts'
import { type Bounds, type Counts, isWithin, type Outcome, promised } from './bounds.ts'
import type { Ring } from './container.ts'
import type { Change } from './fence-table.ts'
import { group, kindOf, poisonAttempts, topics } from './sim-relay.ts'
import { type JudgedRecord, judgeRecords } from './visible.ts'
import type { World } from './world.ts'

const unstable = 88

/**
 * Says what went wrong, from what the brokers' logs and offsets hold and from what was answered. It shares no rule with
 * the engine: what is visible, what the relay should have made of a record and what is committed it finds out itself.
 */
export class Judge {
  readonly violations: string[] = []
  /** Codes of the stops that this run provokes. */
  readonly expectedStops = new Set<string>()
  private readonly world: World
  /** Source logs that are gone, or of which the beginning is. */
  private readonly archived: { readonly topicId: string; readonly partition: number; batches: FetchedBatch[] }[] = []
  private readonly stopped = new Set<number>()
  private readonly deathsAlone = new Map<string, number>()
  private readonly poisoned = new Set<string>()
  /** By partition, where it was committed when the faults had ended. */
  private calmFrom: ReadonlyMap<number, bigint> = new Map()
  private readonly relayedTopic: ModelTopic

  constructor(world: World, relayedTopic: ModelTopic) {
    this.world = world
    this.relayedTopic = relayedTopic
    world.fences.onChange((change) => {
      this.tokenChanged(change)
      this.fenceChanged(change)
    })
  }

  get isStopped(): boolean {
    return this.stopped.size > 0
  }

  /** Before something is deleted. */
  archive(): void {
    for (const { partition, log } of this.relayedTopic.partitions) {
      const known = this.archiveOf(partition)
      const newer = log.contents().filter(({ baseOffset }) => baseOffset >= (known.batches.at(-1)?.nextOffset ?? 0n))
      known.batches.push(...newer)
    }
  }

  /** Nothing fails from now on. What is still pending may yet be committed; and poison kills in any weather. */
  calm(): void {
    const committed = this.relayedTopic.partitions.map(({ partition }) => ({ partition, ...this.committed(partition) }))
    const known = this.world.plan.source.poison > 0 ? [] : committed.filter(({ isPending }) => !isPending)
    this.calmFrom = new Map(known.map(({ partition, offset }) => [partition, offset]))
  }

  /** What an invocation answered (R12). */
  heard(bell: Ring, answer: InvocationReport | Error | null): void {
    if (answer instanceof Error) this.assertNoBug(answer as RelayError)
    for (const lane of answer === null || answer instanceof Error ? [] : answer.lanes) {
      if (lane.kind === 'failed') this.assertNoBug(lane.error)
      if (lane.kind === 'stopped') this.laneStopped(lane.id.partitions, lane.code, lane.message)
      if (lane.kind === 'done' && bell.kind === 'event') {
        for (const { partition, lastOffset } of bell.partitions) {
          if (lane.id.partitions.includes(partition)) void this.assertPast(partition, lastOffset)
        }
      }
    }
  }

  /** Whether every lane has relayed its source to the end, or stands still for good. */
  get isDrained(): boolean {
    return this.relayedTopic.partitions.every(({ partition, log }) => {
      if (this.stopped.has(partition)) return true
      return this.committed(partition).offset === log.endOffset && log.lastStableOffset === log.endOffset
    })
  }

  /** Every partition has a committed offset: lanes have begun, so that whatever is done to them is noticed. */
  get hasCommittedAll(): boolean {
    return this.relayedTopic.partitions.every(({ partition }) => this.committed(partition).offset >= 0n)
  }

  /** Of all lanes together: grows as long as anything is relayed. */
  get position(): bigint {
    return this.relayedTopic.partitions.reduce((sum, { partition }) => sum + this.committed(partition).offset, 0n)
  }

  /** The container dies of a record: whatever else was in its window is not to blame. */
  diedOfPoison(container: string): void {
    this.poisoned.add(container)
  }

  /** After everything has come to rest. `records`: what the fence table remembers. */
  verdict(records: readonly FenceRecord[] = []): void {
    this.archive()
    this.assertNothingOpen()
    for (const record of records) this.assertRemembered(record)
    const source = this.archived.map(({ partition, batches }) => ({ partition, records: judgeRecords(batches) }))
    const place = new Map<string, Place>()
    for (const { partition, records } of source) {
      for (const { value, record, fate } of records) {
        place.set(value, { partition, offset: record.offset, isCommitted: fate === 'committed' })
      }
    }
    const delivered = this.delivered(place)
    for (const { partition, records } of source) this.assertDelivered(partition, records, delivered)
  }

  private fail(violation: string): void {
    this.violations.push(violation)
    this.world.journal.note('judge', `VIOLATION ${violation}`)
  }

  private assertNoBug(error: RelayError): void {
    if (error.disposition === 'bug' || error.disposition === undefined) this.fail(`the engine broke: ${error.stack}`)
    if (this.expectedStops.has(error.code)) return
    if (error.disposition === 'fix-config') this.fail(`nothing is wrong with the configuration: ${error.message}`)
  }

  private laneStopped(partitions: readonly number[], code: string, message: string): void {
    for (const partition of partitions) this.stopped.add(partition)
    if (!this.expectedStops.has(code)) this.fail(`stopped without a reason: ${message}`)
  }

  /** A commit is decided before its offsets can be read. */
  private async assertPast(partition: number, lastOffset: bigint): Promise<void> {
    for (;;) {
      const { offset, isPending } = this.committed(partition)
      if (offset > lastOffset || this.expectedStops.size > 0) return
      if (!isPending) {
        return this.fail(`answered success for ${partition}@${lastOffset}, committed is ${offset}`)
      }
      await this.world.clock.sleep(2)
    }
  }

  private committed(partition: number): { offset: bigint; isPending: boolean } {
    const { model } = this.world
    const coordinator = model.groupCoordinator(model.groupPartition(group).partition)
    const place = { topic: topics.source, partition }
    const { committed } = coordinator.fetch(group, place, false)
    return {
      offset: committed?.offset ?? -1n,
      isPending: coordinator.fetch(group, place, true).code === unstable,
    }
  }

  private fenceChanged({ before, after }: Change): void {
    const { clock, journal } = this.world
    if (before === null || before.owner === null || before.owner.nonce === after.owner?.nonce) return
    if (after.owner === null) return
    if (clock.now() >= before.leaseUntilMs) journal.fault('lease-expired', 'fences', before.id)
    const { intent } = before
    if (!before.working || intent?.recordsMax !== 1 || intent.stage !== 'transform') return
    if (this.poisoned.has(before.owner.container)) return
    const key = `${intent.partition}@${intent.from}`
    this.deathsAlone.set(key, (this.deathsAlone.get(key) ?? 0) + 1)
  }

  private tokenChanged({ before, after }: Change): void {
    if (before !== null && after.token < before.token) this.fail(`token of ${after.id} fell to ${after.token}`)
    if (before === null || before.owner === null || after.owner === null) return
    const isTaken = before.owner.nonce !== after.owner.nonce && before.owner.container !== after.owner.container
    if (isTaken && after.token <= before.token) this.fail(`${after.id} was taken over without a new token`)
  }

  private assertNothingOpen(): void {
    const { model } = this.world
    for (const { transactionalId, state } of model.transactions.all()) {
      const isOpen = state === 'Ongoing' || state.startsWith('Prepare')
      if (isOpen) this.fail(`transaction of ${transactionalId} is left ${state}`)
    }
    for (const { partition } of this.relayedTopic.partitions) {
      if (this.committed(partition).isPending) this.fail(`offset of ${partition} is left pending`)
    }
  }

  /** A record that is ahead of the offsets would stop its lane the next time. */
  private assertRemembered({ id, committedUntil }: FenceRecord): void {
    if (this.expectedStops.size > 0) return
    for (const [partition, remembered] of committedUntil) {
      const { offset } = this.committed(partition)
      if (remembered > offset) this.fail(`${id} remembers ${partition}@${remembered}, committed is ${offset}`)
    }
  }

  /** Without a guarantee, what a dead function has sent may arrive behind what its successor sends. */
  private isOrdered({ partition, offset }: Place): boolean {
    const calmFrom = this.calmFrom.get(partition)
    return this.world.plan.promise.guarantee !== 'none' || (calmFrom !== undefined && offset >= calmFrom)
  }

  private get mayRepeat(): boolean {
    return this.world.plan.promise.guarantee !== 'exactly-once'
  }

  /** Per source record, how often each output topic shows it. Finds what must not be visible, and order, on the way. */
  private delivered(place: ReadonlyMap<string, Place>): ReadonlyMap<string, Delivered> {
    const delivered = new Map<string, Delivered>()
    for (const topic of [topics.out, topics.audit, topics.dead]) {
      for (const { partition, log } of this.world.model.topics.find(topic)?.partitions ?? []) {
        const last = new Map<number, bigint>()
        const seen = new Set<string>()
        for (const { record, value, fate } of judgeRecords(log.contents())) {
          if (fate !== 'committed') continue
          const from = place.get(value)
          if (from === undefined) this.fail(`${topic}-${partition}@${record.offset} '${value}' comes from nowhere`)
          if (from === undefined) continue
          if (!from.isCommitted) this.fail(`'${value}' was relayed, though its own transaction never committed`)
          const before = last.get(from.partition)
          const isRepeated = this.mayRepeat && seen.has(value)
          seen.add(value)
          if (!isRepeated && before !== undefined && from.offset <= before && this.isOrdered(from)) {
            this.fail(`${topic}-${partition}@${record.offset} '${value}' is out of order or twice there`)
          }
          if (before === undefined || from.offset > before) last.set(from.partition, from.offset)
          const known = delivered.get(value) ?? { out: 0, audit: 0, dead: 0, code: '' }
          known[topic]++
          const code = record.headers.find(({ key }) => key === deadLetterHeaders.errorCode)?.value
          delivered.set(value, { ...known, code: code ? String(code) : known.code })
        }
      }
    }
    return delivered
  }

  private assertDelivered(
    partition: number,
    records: readonly JudgedRecord[],
    delivered: ReadonlyMap<string, Delivered>,
  ): void {
    const { promise, lanes } = this.world.plan
    const committed = this.committed(partition).offset
    const outcomes = records
      .filter(({ fate }) => fate === 'committed')
      .map(({ value, record }) => this.outcome(value, partition, record.offset, delivered.get(value)))
    const bounds = promised[promise.guarantee](outcomes, {
      committed,
      isStopped: this.stopped.has(partition),
      windowRecords: lanes.windowRecords,
      calmFrom: this.calmFrom.get(partition) ?? null,
    })
    for (const [index, { value, offset, found }] of outcomes.entries()) {
      const wants = bounds[index]
      if (wants === undefined || isWithin(found, wants)) continue
      this.fail(
        `${partition}@${offset} '${value}' has ${counts(found)}, wanted ${countsOf(wants)}; committed ${committed}`,
      )
    }
  }

  private outcome(
    value: string,
    partition: number,
    offset: bigint,
    found: Delivered = undelivered,
  ): Outcome & { readonly value: string } {
    const deaths = this.deathsAlone.get(`${partition}@${offset}`) ?? 0
    const isTakenForPoison = found.dead > 0 && found.code === 'POISON_RECORD' && deaths >= poisonAttempts
    const usual = usualOf(value)
    const possible = isTakenForPoison ? { ...usual, dead: 1 } : usual
    return { value, offset, found, wanted: isTakenForPoison ? deadLetter : usual, possible }
  }

  private archiveOf(partition: number) {
    const topicId = this.relayedTopic.id
    const known = this.archived.find((one) => one.partition === partition && one.topicId === topicId)
    if (known !== undefined) return known
    const added = { topicId, partition, batches: [] }
    this.archived.push(added)
    return added
  }
}

interface Place {
  readonly partition: number
  readonly offset: bigint
  readonly isCommitted: boolean
}

interface Delivered {
  out: number
  audit: number
  dead: number
  readonly code: string
}

const undelivered: Delivered = { out: 0, audit: 0, dead: 0, code: '' }
const deadLetter: Counts = { out: 0, audit: 0, dead: 1 }

/** What the relay makes of a record that is not taken for poison. */
function usualOf(value: string): Counts {
  const kind = kindOf(value)
  if (kind === 'poison' || kind === 'rejected') return deadLetter
  if (kind === 'dropped') return { out: 0, audit: 0, dead: 0 }
  return { out: 1, audit: kind === 'twice' ? 1 : 0, dead: 0 }
}

const counts = ({ out, audit, dead }: Counts): string => `out ${out}, audit ${audit}, dead ${dead}`
const countsOf = ({ least, most }: Bounds): string => {
  const range = (topic: keyof Counts) =>
    least[topic] === most[topic] ? `${topic} ${least[topic]}` : `${topic} ${least[topic]} or more`
  return [range('out'), range('audit'), range('dead')].join(', ')
}
