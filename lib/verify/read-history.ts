import { type Deadline, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { FenceRecord } from '../fencing/fence-record.ts'
import type { TopicMetadata } from '../kafka/cluster.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { parseCommitMetadata } from '../relay/commit-metadata.ts'
import { type LaneId, lanesOf } from '../relay/lane-id.ts'
import { seconds } from '../units.ts'
import { type Expecting, expectIds, expectTransformed, knownRejections, readSource } from './expect.ts'
import type { DeadLetterCounts, History, OutputLog, SourceLog } from './history.ts'
import { contentIdentity, type DeadLetterOrigin, type Identity, idIdentity } from './identity.ts'
import { openTransactionsOf, stillOpen } from './open-transactions.ts'
import { type CommittedPosition, committedPositions, type Offsets, offsetsAt, untilStable } from './positions.ts'
import { Progress } from './progress.ts'
import { type OutputRead, readOutput } from './read-output.ts'
import type { VerifyOptions } from './verify-relay.ts'

const settleDefaultMs = seconds(30)
const askMs = seconds(30)

/** Beyond the committed offset, how many records are transformed to find outputs that are visible too early. */
const aheadMax = 100_000n

/**
 * Reads everything that is judged, in an order that makes it safe beside a relay at work:
 *
 * 1. the committed offsets: the outputs of everything below have been written by now,
 * 2. the ends of the outputs; wait until readers can see up to there,
 * 3. the outputs up to those ends,
 * 4. the committed offsets again: whatever was visible in 3 belongs to records below them,
 * 5. the source, once the dead letters in the outputs are known.
 */
export async function readHistory(options: VerifyOptions): Promise<History> {
  const { relay, prefix, cluster, settleMs = settleDefaultMs } = options
  const { clock } = cluster
  const progress = new Progress(clock, options.onProgress ?? (() => undefined))
  const topics = await topicsOf(options)
  const source = topicNamed(topics, relay.sourceTopic)
  const naming = { prefix, relay: relay.name, topic: source.name, partitionsPerLane: relay.partitionsPerLane }
  const lanes = lanesOf(source.partitions.keys(), source.partitions.length, naming)
  const sourcePartitions = partitionsOf([source])
  const outputPartitions = partitionsOf([...new Set(relay.outputTopics)].map((name) => topicNamed(topics, name)))
  const sinceMs = options.lastMs === undefined ? null : clock.now() - options.lastMs
  const settled = deadlineIn(clock, settleMs)
  const group = lanes[0]?.group ?? ''

  const committed = await committedPositions(cluster, group, sourcePartitions, settled) //            1
  const openBefore = await openTransactionsOf(cluster, ids(lanes), deadlineIn(clock, askMs))
  const ends = await offsetsAt(cluster, outputPartitions, 'latest') //                                2
  const stable = await untilStable(cluster, outputPartitions, ends, settled)
  const identity = options.id ? idIdentity(options.id) : contentIdentity(relay.name, relay.deadLetters)
  const reading = { ...options, identity, progress, sinceMs, topics }
  const outputs = await readOutputs(reading, outputPartitions, ends, stable) //                       3
  const committedAfter = await committedPositions(cluster, group, sourcePartitions, deadlineIn(clock, settleMs)) // 4
  const openAfter = await openTransactionsOf(cluster, ids(lanes), deadlineIn(clock, askMs))
  const fences = await fenceRecords(options, lanes, deadlineIn(clock, askMs))
  const deadLetters = outputs.flatMap((output) => output.read.deadLetters)
  const expecting = await expectingOf(reading, outputPartitions, deadLetters, fences)
  const sources = await readSources(reading, { lanes, source, committed, committedAfter }, expecting) // 5
  return {
    relay: relay.name,
    guarantee: relay.guarantee,
    by: options.id ? 'ids' : 'transform',
    sinceMs,
    sources,
    outputs: outputs.map(({ log }) => log),
    expected: expecting.expected,
    deadLetters: countDeadLetters(relay.name, sources, deadLetters),
    openTransactions: stillOpen(openBefore, openAfter),
    fences,
    readAtMs: clock.now(),
  }
}

interface Reading extends VerifyOptions {
  readonly identity: Identity
  readonly progress: Progress
  readonly sinceMs: number | null
  readonly topics: ReadonlyMap<string, TopicMetadata>
}

async function topicsOf({ relay, cluster }: VerifyOptions): Promise<ReadonlyMap<string, TopicMetadata>> {
  return cluster.topics([relay.sourceTopic, ...relay.outputTopics], deadlineIn(cluster.clock, askMs), 'fresh')
}

function topicNamed(topics: ReadonlyMap<string, TopicMetadata>, name: string): TopicMetadata {
  const topic = topics.get(name)
  if (topic) return topic
  throw new RelayError('TOPIC_MISSING', `topic '${name}' does not exist: nothing can be verified without it`)
}

const partitionsOf = (topics: readonly TopicMetadata[]): (TopicPartition & { readonly topicId: string })[] =>
  topics.flatMap(({ name: topic, topicId, partitions }) =>
    partitions.map(({ partition }) => ({ topic, topicId, partition })),
  )

const ids = (lanes: readonly LaneId[]): string[] => lanes.map(({ transactionalId }) => transactionalId)

async function readOutputs(
  reading: Reading,
  partitions: ReturnType<typeof partitionsOf>,
  ends: Offsets,
  stable: Offsets,
): Promise<{ log: OutputLog; read: OutputRead }[]> {
  const { cluster, relay, sinceMs, identity, progress } = reading
  progress.begin('outputs')
  const starts = await offsetsAt(cluster, partitions, 'earliest')
  const froms = sinceMs === null ? starts : await offsetsAt(cluster, partitions, sinceMs)
  const outputs: { log: OutputLog; read: OutputRead }[] = []
  for (const [output, place] of partitions.entries()) {
    const at = (offsets: Offsets) => offsets.get(tpKey(place)) ?? 0n
    const end = at(ends)
    const range = { from: at(froms), until: least(at(stable), end) }
    const isDeadLetters = place.topic === relay.deadLetters
    const read = await readOutput(cluster, { ...place, ...range, output, isDeadLetters, sinceMs }, identity, progress)
    const { topic, partition } = place
    outputs.push({ read, log: { topic, partition, logStart: at(starts), ...range, end, ...read } })
  }
  return outputs
}

async function fenceRecords(
  { fences }: VerifyOptions,
  lanes: readonly LaneId[],
  deadline: Deadline,
): Promise<readonly FenceRecord[] | null> {
  if (!fences) return null
  const records = await Promise.all(lanes.map(({ transactionalId }) => fences.read(transactionalId, deadline)))
  return records.filter((record) => record !== null)
}

async function expectingOf(
  { relay, cluster: { clock }, secret, id, sinceMs, identity, topics }: Reading,
  outputPartitions: readonly TopicPartition[],
  deadLetters: readonly (DeadLetterOrigin | null)[],
  fences: readonly FenceRecord[] | null,
): Promise<Expecting> {
  if (id) return expectIds(identity, sinceMs)
  const noSecret = async (name: string) => {
    throw new RelayError('CONFIG_INVALID', `the relay's setup asks for the secret '${name}', and none was given`)
  }
  const running = await relay.start({ secret: secret ?? noSecret, deadline: deadlineIn(clock, askMs), clock })
  const pinned = fences?.flatMap(({ outputPartitions }) => [...outputPartitions]) ?? []
  const counts = [...topics.values()].map(({ name, partitions }): [string, number] => [name, partitions.length])
  return expectTransformed({
    running,
    clock,
    identity,
    outputs: new Map(outputPartitions.map((place, index) => [tpKey(place), index])),
    partitionCounts: new Map([...counts, ...pinned]),
    sinceMs,
    rejected: knownRejections(
      deadLetters.filter((origin) => origin?.relay === relay.name).filter((origin) => origin !== null),
    ),
  })
}

interface SourceToRead {
  readonly lanes: readonly LaneId[]
  readonly source: TopicMetadata
  readonly committed: ReadonlyMap<string, CommittedPosition>
  readonly committedAfter: ReadonlyMap<string, CommittedPosition>
}

async function readSources(
  reading: Reading,
  { lanes, source, committed, committedAfter }: SourceToRead,
  expecting: Expecting,
) {
  const { cluster, progress, sinceMs, relay } = reading
  const places = partitionsOf([source])
  const [starts, stableEnds, ends, froms] = await Promise.all([
    offsetsAt(cluster, places, 'earliest'),
    offsetsAt(cluster, places, 'latest', 'read_committed'),
    offsetsAt(cluster, places, 'latest'),
    offsetsAt(cluster, places, sinceMs ?? startOf(relay.startAt)),
  ])
  progress.begin('source')
  const sources: SourceLog[] = []
  for (const [index, place] of places.entries()) {
    const at = (offsets: Offsets) => offsets.get(tpKey(place)) ?? 0n
    const from = at(froms)
    const before = committed.get(tpKey(place))?.offset ?? null
    const after = committedAfter.get(tpKey(place)) ?? { offset: null, metadata: '' }
    const until = least(at(stableEnds), (after.offset ?? from) + aheadMax)
    const ask = {
      ...place,
      from,
      until,
      source: index,
      committed: before ?? from,
      committedAfter: after.offset ?? from,
    }
    const read = await readSource(cluster, ask, expecting, progress)
    sources.push({
      topic: place.topic,
      partition: place.partition,
      transactionalId: lanes.find(({ partitions }) => partitions.includes(place.partition))?.transactionalId ?? '',
      logStart: at(starts),
      stableEnd: at(stableEnds),
      end: at(ends),
      from,
      committed: before,
      committedAfter: after.offset,
      metadata: parseCommitMetadata(after.metadata),
      ...read,
    })
  }
  return sources
}

const startOf = (startAt: VerifyOptions['relay']['startAt']): 'earliest' | number =>
  typeof startAt === 'object' ? startAt.timestampMs : 'earliest'

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

function countDeadLetters(
  relay: string,
  sources: readonly SourceLog[],
  origins: readonly (DeadLetterOrigin | null)[],
): DeadLetterCounts {
  const ours = origins.filter((origin) => origin?.relay === relay)
  const isIn = (origin: DeadLetterOrigin | null) =>
    sources.some(
      ({ topic, partition, from, committedAfter }) =>
        topic === origin?.topic &&
        partition === origin.partition &&
        origin.offset >= from &&
        origin.offset < (committedAfter ?? from),
    )
  return {
    found: ours.length,
    notReproduced: 0,
    unaccounted: ours.filter((origin) => !isIn(origin)).length,
    ofOthers: origins.length - ours.length,
  }
}
