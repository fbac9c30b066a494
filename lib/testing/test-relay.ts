import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import { type ErrorCode, RelayError } from '../errors.ts'
import { createMemoryFenceStore } from '../fencing/memory-fence-store.ts'
import type { Bell } from '../relay/bell.ts'
import type { Outputs } from '../relay/definition/emit.ts'
import type { Relay } from '../relay/definition/relay-definition.ts'
import type { Topic } from '../relay/definition/topic.ts'
import type { InvocationReport } from '../relay/invocation.ts'
import type { EngineSettings } from '../relay/runtime.ts'
import { isOpened, openTopic } from '../relay/transform/open-codecs.ts'
import { ClusterModel } from './broker-model/cluster-model.ts'
import { memoryRegistry } from './memory-registry.ts'
import { type DeadLetterView, deadLetterView, type OutputView, outputView } from './output-log.ts'
import type { RelayUnderTest, TestRelayOptions } from './relay-under-test.ts'
import { seededRandom } from './seeded-random.ts'
import { type TestRecord, type Written, writeToSource } from './source-writer.ts'
import { type CrashPoint, TestContainer, type World } from './test-container.ts'
import { VirtualClock } from './virtual-clock.ts'

const pauseBetweenDeliveriesMs = 1_000
const deliveriesMax = 20

/**
 * A relay's test: the real engine, commit protocol and codecs over brokers modelled in memory; no broker, no clock that
 * has to be waited for.
 *
 * ```ts
 * test('a flight is delivered once although the function dies right after the commit', async () => {
 *   const relay = testRelay(delays)
 *   await relay.crash('after-commit')
 *   await relay.pipe({ key: 'SFO', value: flight({ delay: 20 }) })
 *   expect(relay.outputs.late.values()).toMatchObject([{ delay: 20, delayClass: 'minor' }])
 * })
 * ```
 *
 * Time stands still unless something waits for it; while the transform or `setup` runs it goes on as in reality, so that
 * they may await real things.
 */
export function testRelay<Source extends Topic, O extends Outputs>(
  relay: Relay<Source, O>,
  options: TestRelayOptions = {},
): RelayUnderTest<Source, O> {
  return new TestBench(relay, options)
}

class TestBench<Source extends Topic, O extends Outputs> implements RelayUnderTest<Source, O> {
  readonly outputs: { readonly [Name in keyof O]: OutputView<O[Name]> }
  readonly deadLetters: DeadLetterView
  private readonly relay: Relay<Source, O>
  private readonly source: Topic
  private readonly world: World
  private readonly functionTimeoutMs: number
  private container: TestContainer | null = null
  private isStarting = false
  private crashPoint: CrashPoint | null = null
  private containers = 0
  private requests = 0

  constructor(relay: Relay<Source, O>, options: TestRelayOptions) {
    this.relay = relay
    this.functionTimeoutMs = options.functionTimeoutMs ?? 30_000
    const clock = new VirtualClock(options.startAt?.getTime())
    const random = seededRandom(options.seed ?? 1)
    const model = new ClusterModel({ clock, random, transactionVersion: options.transactionVersion ?? 2 })
    const settings = this.settings()
    const { secrets = {}, registry = memoryRegistry() } = options
    this.world = { clock, random, model, fences: createMemoryFenceStore(), secrets, registry, settings }
    this.source = openTopic(relay.source, 'both', registry)
    for (const name of new Set([relay.sourceTopic, ...relay.outputTopics])) {
      model.createTopic({
        name,
        partitions: partitionsOf(options, name),
        configs: { 'retention.ms': '-1', ...options.topics?.[name] },
      })
    }
    this.outputs = viewsOf(model, relay.outputs, registry)
    this.deadLetters = deadLetterView(model, relay.deadLetters)
  }

  async pipe(records: TestRecord<Source> | readonly TestRecord<Source>[]): Promise<void> {
    const written = await this.append(listOf(records))
    if (written.length > 0) await this.deliver(this.event(written))
  }

  async write(records: TestRecord<Source> | readonly TestRecord<Source>[]): Promise<void> {
    await this.append(listOf(records))
  }

  async ring(): Promise<void> {
    await this.deliver({ kind: 'pull', lingerUntilMs: null })
  }

  async crash(at?: CrashPoint): Promise<void> {
    if (at === undefined) {
      this.container?.life.die()
      this.container = null
    } else {
      this.crashPoint = at
    }
  }

  async advanceTime(ms: number): Promise<void> {
    await this.world.clock.advance(ms)
  }

  now(): number {
    return this.world.clock.now()
  }

  private async append(records: readonly TestRecord<Source>[]): Promise<readonly Written[]> {
    const codecs = [this.source.key, this.source.value].filter(isOpened)
    for (const codec of codecs) await codec.prepare([], new AbortController().signal)
    return writeToSource(this.world.model, this.source as Source, records) // the same topic, its codecs opened
  }

  private async deliver(bell: Bell): Promise<void> {
    const isBusy = () => this.isStarting || (this.container?.isInUsersHands ?? false)
    await this.world.clock.run(this.deliverUntilDone(bell), { isBusy })
    if (this.crashPoint === null) return
    const missed = this.crashPoint
    this.crashPoint = null
    throw new Error(`nothing was relayed, so the crash at '${missed}' never came: pipe records that are new`)
  }

  private async deliverUntilDone(bell: Bell): Promise<void> {
    for (let deliveries = 1; ; deliveries++) {
      const report = await this.invoke(bell)
      if (report === null) continue
      const problem = problemOf(report)
      const isLeft = report.lanes.some(({ kind }) => kind === 'left')
      if (problem === null && !isLeft) return
      if (problem !== null && (report.ok || deliveries >= deliveriesMax)) throw problem
      await this.world.clock.sleep(pauseBetweenDeliveriesMs)
    }
  }

  /** Null when the container died. */
  private async invoke(bell: Bell): Promise<InvocationReport | null> {
    this.container ??= await this.start()
    if (this.crashPoint !== null) this.container.dieAt(this.crashPoint)
    const report = await this.container.invoke(bell, `request-${++this.requests}`)
    if (report === null) {
      this.container = null
      this.crashPoint = null
    }
    return report
  }

  private async start(): Promise<TestContainer> {
    const container = `container-${++this.containers}`
    this.isStarting = true
    try {
      return await TestContainer.start(this.relay, { ...this.world, settings: { ...this.world.settings, container } })
    } finally {
      this.isStarting = false
    }
  }

  private event(written: readonly Written[]): Bell {
    const partitions = [...new Set(written.map(({ partition }) => partition))].map((partition) => {
      const offsets = written.filter((one) => one.partition === partition).map(({ offset }) => offset)
      const [firstOffset = 0n] = offsets
      const lastOffset = offsets.at(-1) ?? firstOffset
      return {
        partition,
        firstOffset,
        lastOffset,
        records: () => this.sourceRecords(partition, firstOffset, lastOffset),
      }
    })
    return { kind: 'event', topic: this.relay.sourceTopic, partitions }
  }

  private sourceRecords(partition: number, from: bigint, to: bigint) {
    const log = this.world.model.topics.partition(this.relay.sourceTopic, partition)?.log
    const records = log?.contents().flatMap((batch) => batch.records()) ?? []
    return records.filter(({ offset }) => offset >= from && offset <= to)
  }

  private settings(): EngineSettings {
    return {
      prefix: 'test',
      transactionTimeoutMs: this.functionTimeoutMs + 30_000,
      functionTimeoutMs: this.functionTimeoutMs,
      commitReserveMs: 500,
      leaseMs: 5_000,
      renewEveryMs: 2_000,
      generation: 1,
      container: 'container-0',
      rack: '',
    }
  }
}

const listOf = <T>(one: T | readonly T[]): readonly T[] => (isList(one) ? one : [one])
const isList = <T>(one: T | readonly T[]): one is readonly T[] => Array.isArray(one)

function partitionsOf({ partitions = 1 }: TestRelayOptions, topic: string): number {
  return typeof partitions === 'number' ? partitions : (partitions[topic] ?? 1)
}

/** What codecs read here was written by the relay's own, which have fetched its schemas. */
function viewsOf<O extends Outputs>(
  model: ClusterModel,
  outputs: O,
  registry: SchemaRegistry,
): { [Name in keyof O]: OutputView<O[Name]> } {
  const views = Object.entries(outputs).map(([name, topic]) => [
    name,
    outputView(model, openTopic(topic, 'decode', registry)),
  ])
  return Object.fromEntries(views)
}

/** A stopped lane answers its event with success, yet nothing goes on: a test must hear of it. */
function problemOf({ lanes }: InvocationReport): Error | null {
  for (const lane of lanes) {
    if (lane.kind === 'failed') return lane.error
    if (lane.kind === 'stopped') return new RelayError(lane.code as ErrorCode, withoutCode(lane.message, lane.code))
  }
  return null
}

const withoutCode = (message: string, code: string): string =>
  message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
