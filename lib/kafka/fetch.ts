import { type Deadline, sooner } from '../clock.ts'
import { isRelayError, RelayError } from '../errors.ts'
import type { Cluster } from './cluster.ts'
import { doubtLeaders, type Placed, placeOnLeaders } from './leaders.ts'
import type { FetchRequest, FetchResponse, PartitionData } from './protocol/generated/fetch.ts'
import { silenceOf, troubleOf } from './read-errors.ts'
import { ReadReplicas } from './read-replicas.ts'
import { type KafkaRecord, type TopicPartition, tpKey } from './record.ts'
import { readBatches } from './record-batch/decode.ts'
import { type Marker, readRange } from './record-batch/read-range.ts'
import { inRounds, type Told } from './rounds.ts'
import type { NodeAddress } from './transport.ts'

export type Isolation = 'read_committed' | 'read_uncommitted'

export interface FetchAsk extends TopicPartition {
  /** Of the topic that is meant: one recreated under the same name is refused, not read (R9, P10). */
  readonly topicId: string
  /** The position: the first offset wanted. */
  readonly from: bigint
  /** Exclusive upper bound, for example the last stable offset seen at open (R13). */
  readonly until: bigint
  /** Soft: one whole batch is answered even when it is larger. */
  readonly maxBytes: number
  readonly maxRecords?: number
}

export interface FetchLimits {
  /** Of one broker's whole answer; soft as above. Asks are filled in their order. */
  readonly maxBytes: number
  /** How long a broker may wait when it has nothing yet; 0 answers at once. */
  readonly maxWaitMs: number
  /** Default read_committed. */
  readonly isolation?: Isolation
  /** Availability zone, to read from the nearest replica; empty or left out: from the leader. */
  readonly rackId?: string
  /** How long one request may stay unanswered, `maxWaitMs` apart, before another is tried; default 5000. */
  readonly attemptTimeoutMs?: number
}

export interface FetchedPartition extends TopicPartition {
  /** Those that readers may see, with offsets in [ask.from, until), ascending. */
  readonly records: readonly KafkaRecord[]
  /** The position behind them (R9): `ask.from` when nothing was read or with an error, never above `ask.until`. */
  readonly until: bigint
  /** As the answering broker sees them; -1n with an error. A stale one can answer too low, never trust it for an end. */
  readonly lastStableOffset: bigint
  readonly highWatermark: bigint
  readonly logStartOffset: bigint
  /** Ends of transactions in [ask.from, until): what the verifier counts. */
  readonly markers: readonly Marker[]
  /** Size of the batches that the records come from: what an ask for as many needs. */
  readonly batchBytes: number
  readonly error?: RelayError
}

const attemptTimeoutDefaultMs = 5000

/**
 * Reads from the log without a consumer group, by topic id: one request per broker, in parallel, each partition with
 * its own result. Errors of leadership and silence are tried again on fresh metadata within the deadline.
 *
 * An error ends as `error` of its partition: OFFSET_OUT_OF_RANGE (no decision: only ListOffsets knows the log's bounds,
 * R8), SOURCE_REPLACED (the topic has another id), TOPIC_MISSING, NOT_AUTHORIZED, CORRUPT_BATCH, TOPIC_INVALID,
 * UNKNOWN_COMPRESSION, BATCH_TOO_LARGE, BROKER_UNAVAILABLE, BROKER_ERROR.
 * @throws RelayError BROKER_UNAVAILABLE, AUTHENTICATION_FAILED when no broker can be asked for metadata
 */
export async function readPartitions(
  cluster: Cluster,
  asks: readonly FetchAsk[],
  limits: FetchLimits,
  deadline: Deadline,
): Promise<FetchedPartition[]> {
  const fetcher = new Fetcher(cluster, limits, deadline)
  const results = await inRounds(cluster.clock, asks, (open, round) => fetcher.round(open, round), deadline)
  return asks.map((ask) => asFetched(ask, results.get(ask)))
}

type FetchTold = Told<FetchAsk, FetchedPartition>

/** Where an ask goes in this round. With an empty rack a leader answers itself. */
interface Route extends Placed<FetchAsk> {
  readonly rackId: string
  readonly isReplica: boolean
}

class Fetcher {
  private readonly cluster: Cluster
  private readonly limits: FetchLimits
  private readonly deadline: Deadline
  private readonly replicas: ReadReplicas

  constructor(cluster: Cluster, limits: FetchLimits, deadline: Deadline) {
    this.cluster = cluster
    this.limits = limits
    this.deadline = deadline
    this.replicas = ReadReplicas.of(cluster)
  }

  async round(asks: readonly FetchAsk[], number: number): Promise<FetchTold[]> {
    const { placed, lost } = await placeOnLeaders(this.cluster, asks, number, this.deadline)
    const routes = await Promise.all(placed.map((place) => this.route(place)))
    const groups = Map.groupBy(routes, ({ node, rackId }) => `${node.nodeId} ${rackId}`)
    const told = await Promise.all([...groups.values()].map((group) => this.exchange(group)))
    doubtLeaders(this.cluster, told.flat())
    return [...lost, ...told.flat()]
  }

  private async route(place: Placed<FetchAsk>): Promise<Route> {
    const { rackId = '' } = this.limits
    if (rackId === '') return { ...place, rackId, isReplica: false }
    const from = this.replicas.get(place.ask)
    if (from === undefined) return { ...place, rackId, isReplica: false }
    const replica = from === 'leader' ? undefined : await this.broker(from)
    if (replica === undefined) return { ...place, rackId: '', isReplica: false }
    return { ...place, node: replica, rackId, isReplica: true }
  }

  private async broker(nodeId: number): Promise<NodeAddress | undefined> {
    return (await this.cluster.brokers(this.deadline)).find((node) => node.nodeId === nodeId)
  }

  /** One request to one broker. */
  private async exchange(routes: readonly Route[]): Promise<FetchTold[]> {
    const [first] = routes
    if (first === undefined) return []
    const { maxWaitMs, attemptTimeoutMs = attemptTimeoutDefaultMs } = this.limits
    const attempt = sooner(this.cluster.clock, this.deadline, maxWaitMs + attemptTimeoutMs)
    const request = requestOf(routes, first.rackId, this.limits)
    try {
      const { body } = await this.cluster.request({ to: 'node', node: first.node }, 'Fetch', request, attempt)
      return routes.map((route) => this.hear(route, body))
    } catch (error) {
      const silence = silenceOf('Fetch', error)
      return routes.map(({ ask, isReplica }) =>
        isReplica ? this.leaveReplica(ask, silence.result) : { ask, ...silence },
      )
    }
  }

  private hear(route: Route, body: FetchResponse): FetchTold {
    const { ask } = route
    const data = partitionOf(body, ask)
    const code = body.errorCode || (data?.errorCode ?? 0)
    if (code !== 0) return this.refused(route, code)
    if (data === undefined) return { ask, again: true, result: leftOut(ask, body.throttleTimeMs) }
    if (data.preferredReadReplica >= 0) return this.sentOn(ask, data.preferredReadReplica)
    const result = read(ask, data)
    if (!isRelayError(result) || !route.isReplica) return { ask, again: false, result }
    return this.leaveReplica(ask, result)
  }

  private refused({ ask, isReplica }: Route, code: number): FetchTold {
    const trouble = troubleOf('Fetch', ask, code)
    return isReplica ? this.leaveReplica(ask, trouble.result) : { ask, ...trouble }
  }

  /** Only a leader's refusal counts: a replica may lag behind, may have left the partition, or have a bad disk. */
  private leaveReplica(ask: FetchAsk, result: RelayError): FetchTold {
    this.replicas.set(ask, 'leader')
    return { ask, again: true, result }
  }

  private sentOn(ask: FetchAsk, nodeId: number): FetchTold {
    this.replicas.set(ask, nodeId)
    const message = `${tpKey(ask)} is to be read from broker ${nodeId}, which could not be asked in time`
    return { ask, again: true, result: new RelayError('BROKER_UNAVAILABLE', message) }
  }
}

function requestOf(routes: readonly Route[], rackId: string, limits: FetchLimits): FetchRequest {
  const byTopic = Map.groupBy(routes, ({ ask }) => ask.topicId)
  return {
    maxWaitMs: limits.maxWaitMs,
    minBytes: 1,
    maxBytes: limits.maxBytes,
    isolationLevel: limits.isolation === 'read_uncommitted' ? 0 : 1,
    topics: [...byTopic].map(([topicId, members]) => ({ topicId, partitions: members.map(partitionAsk) })),
    forgottenTopicsData: [],
    rackId,
  }
}

function partitionAsk({ ask, leaderEpoch }: Route) {
  const { partition, from, maxBytes } = ask
  return { partition, currentLeaderEpoch: leaderEpoch, fetchOffset: from, partitionMaxBytes: maxBytes }
}

function partitionOf({ responses }: FetchResponse, ask: FetchAsk): PartitionData | undefined {
  const topic = responses.find(({ topicId }) => topicId === ask.topicId)
  return topic?.partitions.find(({ partitionIndex }) => partitionIndex === ask.partition)
}

/** A broker that enforces a quota answers with no partition at all. */
function leftOut(ask: FetchAsk, throttleTimeMs: number): RelayError {
  const message = `Fetch left ${tpKey(ask)} out of its answer, throttled for ${throttleTimeMs} ms: raise the consumer quota of this user`
  return new RelayError('BROKER_ERROR', message, {
    context: { topic: ask.topic, partition: ask.partition, throttleTimeMs },
  })
}

function read(ask: FetchAsk, data: PartitionData): FetchedPartition | RelayError {
  const { topic, partition } = ask
  const { lastStableOffset, highWatermark, logStartOffset } = data
  try {
    const batches = readBatches(data.records ?? Buffer.alloc(0), { topic, partition })
    const { records, until, markers, batchBytes } = readRange(batches, ask, data.abortedTransactions ?? [])
    return { topic, partition, records, until, markers, batchBytes, lastStableOffset, highWatermark, logStartOffset }
  } catch (error) {
    if (isRelayError(error)) return error
    throw error
  }
}

function asFetched(ask: FetchAsk, result: FetchedPartition | RelayError | undefined): FetchedPartition {
  if (result !== undefined && !isRelayError(result)) return result
  const { topic, partition, from } = ask
  const nothing = {
    records: [],
    until: from,
    markers: [],
    batchBytes: 0,
    lastStableOffset: -1n,
    highWatermark: -1n,
    logStartOffset: -1n,
  }
  const error = result ?? new RelayError('INVARIANT_BROKEN', `no round told anything about ${tpKey(ask)}`)
  return { topic, partition, ...nothing, error }
}
