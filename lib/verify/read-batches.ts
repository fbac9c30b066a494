import { type Deadline, deadlineIn, sooner } from '../clock.ts'
import { isRelayError, RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { Isolation } from '../kafka/fetch.ts'
import type { FetchResponse, PartitionData } from '../kafka/protocol/generated/fetch.ts'
import { leftOut, silenceOf, troubleOf } from '../kafka/read-errors.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { AbortedFilter } from '../kafka/record-batch/aborted.ts'
import { type FetchedBatch, readBatches } from '../kafka/record-batch/decode.ts'
import { inRounds, type Told } from '../kafka/rounds.ts'
import { mebibytes, seconds } from '../units.ts'

/** [from, until) of one partition; `until` at most the last stable offset, or the high watermark for read_uncommitted. */
export interface LogRange extends TopicPartition {
  readonly topicId: string
  readonly from: bigint
  readonly until: bigint
  /** Default read_committed. */
  readonly isolation?: Isolation
}

/** A batch, and whether the broker and a consumer's own filter show its records to readers of the range's isolation. */
export interface SeenBatch {
  readonly batch: FetchedBatch
  readonly visible: boolean
}

const fetchBytesMax = mebibytes(8)
const fetchTimeoutMs = seconds(60)
const attemptTimeoutMs = seconds(10)
const waitMs = 500
/** A broker answers with nothing as well when its remote storage (KIP-405) has not answered in time. */
const emptyRounds = 5

/**
 * Every batch of a range in log order, data, aborted data and markers, each once. While one answer is worked on, the next
 * is on its way.
 *
 * Reads apart from the engine's own reader (kafka/fetch.ts), so that a fault there cannot hide itself.
 * @throws RelayError OFFSET_OUT_OF_RANGE (deleted meanwhile), SOURCE_REPLACED, TOPIC_MISSING, NOT_AUTHORIZED,
 *   CORRUPT_BATCH, UNKNOWN_COMPRESSION, BROKER_UNAVAILABLE, BROKER_ERROR
 */
export async function* readLogBatches(cluster: Cluster, range: LogRange): AsyncGenerator<SeenBatch> {
  let next = range.from < range.until ? fetchPiece(cluster, range, range.from) : null
  while (next) {
    const piece = await next
    next =
      piece.nextOffset < range.until && piece.batches.length > 0 ? fetchPiece(cluster, range, piece.nextOffset) : null
    next?.catch(() => undefined) // found again by the await above
    for (const seen of piece.batches) if (seen.batch.baseOffset < range.until) yield seen
  }
}

interface Piece {
  readonly batches: readonly SeenBatch[]
  readonly nextOffset: bigint
}

/** One answer with at least one batch; none only when asked again and again: the rest of the range was compacted away. */
async function fetchPiece(cluster: Cluster, range: LogRange, from: bigint): Promise<Piece> {
  const deadline = deadlineIn(cluster.clock, fetchTimeoutMs)
  const results = await inRounds(
    cluster.clock,
    [range],
    async (_, round) => [await ask(cluster, range, from, round, deadline)],
    deadline,
  )
  const result = results.get(range)
  if (result === undefined) throw leftOut('Fetch', range)
  if (isRelayError(result)) throw result
  return result
}

async function ask(
  cluster: Cluster,
  range: LogRange,
  from: bigint,
  round: number,
  deadline: Deadline,
): Promise<Told<LogRange, Piece>> {
  const { topic, partition } = range
  const leader = { to: 'leader', topic, partition } as const
  try {
    const attempt = sooner(cluster.clock, deadline, attemptTimeoutMs)
    const { body } = await cluster.request(leader, 'Fetch', requestOf(range, from), attempt)
    const told = hear(range, from, round, body)
    if (told.again) cluster.forget(leader)
    return told
  } catch (error) {
    return { ask: range, ...silenceOf('Fetch', error) }
  }
}

function requestOf({ topicId, partition, isolation }: LogRange, from: bigint) {
  const partitions = [{ partition, currentLeaderEpoch: -1, fetchOffset: from, partitionMaxBytes: fetchBytesMax }]
  return {
    maxWaitMs: waitMs,
    minBytes: 1,
    maxBytes: fetchBytesMax,
    isolationLevel: isolation === 'read_uncommitted' ? 0 : 1,
    topics: [{ topicId, partitions }],
    forgottenTopicsData: [],
    rackId: '',
  }
}

function hear(range: LogRange, from: bigint, round: number, body: FetchResponse): Told<LogRange, Piece> {
  const topic = body.responses.find(({ topicId }) => topicId === range.topicId)
  const data = topic?.partitions.find(({ partitionIndex }) => partitionIndex === range.partition)
  const code = body.errorCode || (data?.errorCode ?? 0)
  if (code !== 0) return { ask: range, ...troubleOf('Fetch', range, code) }
  if (data === undefined) return { ask: range, again: true, result: leftOut('Fetch', range) }
  const piece = pieceOf(range, from, data)
  if (piece.batches.length > 0) return { ask: range, again: false, result: piece }
  if (visibleEnd(range, data) >= range.until) return { ask: range, again: round < emptyRounds, result: piece }
  return { ask: range, again: true, result: notThere(range, from, data) }
}

/** The list of aborted transactions is complete for exactly the batches that came with it. */
function pieceOf({ topic, partition }: LogRange, from: bigint, data: PartitionData): Piece {
  const filter = new AbortedFilter(data.abortedTransactions ?? [])
  const batches: SeenBatch[] = []
  let nextOffset = from
  for (const batch of readBatches(data.records ?? Buffer.alloc(0), { topic, partition })) {
    const visible = filter.accepts(batch)
    if (batch.nextOffset <= from) continue
    batches.push({ batch, visible })
    nextOffset = batch.nextOffset
  }
  return { batches, nextOffset }
}

const visibleEnd = ({ isolation }: LogRange, { lastStableOffset, highWatermark }: PartitionData): bigint =>
  isolation === 'read_uncommitted' ? highWatermark : lastStableOffset

function notThere(range: LogRange, from: bigint, data: PartitionData): RelayError {
  return new RelayError(
    'BROKER_ERROR',
    `${tpKey(range)} gives nothing at offset ${from}, although it could be read up to ${range.until} before (now ${visibleEnd(range, data)}): its leader may have changed, verify again`,
  )
}
