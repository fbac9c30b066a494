import type { FetchPartition, PartitionData } from '../../kafka/protocol/generated/fetch.ts'
import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { Isolation, ReadResult } from './log.ts'
import type { ModelNode } from './node.ts'
import { checkLeaderEpoch, leaderHint, type Serving, serving } from './serving.ts'

const noSession = 0
const fullFetchEpochs = [-1, 0]

interface Budget {
  bytesLeft: number
  isEmpty: boolean
}

export const isolationOf = (level: number | undefined): Isolation =>
  level === 1 ? 'read_committed' : 'read_uncommitted'

/**
 * Fetch by topic id, without sessions (the broker may decline them, KIP-227). An answer with less than `minBytes` is
 * held back until something is appended or decided, for `maxWaitMs` at most.
 *
 * Source: Kafka `ReplicaManager.fetchMessages`, `UnifiedLog.read`, `LogSegment.read`; KIP-74, KIP-98, KIP-320, KIP-516.
 */
export async function answerFetch(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'Fetch'>,
): Promise<ResponseOf<'Fetch'>> {
  if (!fullFetchEpochs.includes(body.sessionEpoch ?? -1)) return answer(codes.FETCH_SESSION_ID_NOT_FOUND, [])
  const untilMs = model.clock.now() + body.maxWaitMs
  for (;;) {
    const responses = readAll(model, node, body)
    const waitMs = untilMs - model.clock.now()
    if (waitMs <= 0 || isEnough(responses, body.minBytes)) return answer(codes.NONE, responses)
    await change(model, body, waitMs)
  }
}

function answer(errorCode: number, responses: ResponseOf<'Fetch'>['responses']): ResponseOf<'Fetch'> {
  return { throttleTimeMs: 0, errorCode, sessionId: noSession, responses, nodeEndpoints: [] }
}

function isEnough(responses: ResponseOf<'Fetch'>['responses'], minBytes: number): boolean {
  const partitions = responses.flatMap((topic) => topic.partitions)
  const sizeBytes = partitions.reduce((sum, { records }) => sum + (records?.length ?? 0), 0)
  return sizeBytes >= minBytes || partitions.some(({ errorCode }) => errorCode !== codes.NONE)
}

/** Resolves when one of the asked partitions changes, or after `waitMs`. */
async function change(model: ClusterModel, body: RequestOf<'Fetch'>, waitMs: number): Promise<void> {
  const changed = Promise.withResolvers<void>()
  const timer = new AbortController()
  const asked = body.topics.flatMap(({ topicId = '', partitions }) => {
    const topic = model.topics.findById(topicId)
    return partitions.flatMap(({ partition }) => topic?.partitions[partition]?.log ?? [])
  })
  const unsubscribes = asked.map((log) => log.onChange(() => changed.resolve()))
  const timeout = model.clock.sleep(waitMs, timer.signal).catch(() => {})
  await Promise.race([changed.promise, timeout])
  timer.abort()
  for (const unsubscribe of unsubscribes) unsubscribe()
}

function readAll(model: ClusterModel, node: ModelNode, body: RequestOf<'Fetch'>): ResponseOf<'Fetch'>['responses'] {
  const budget: Budget = { bytesLeft: body.maxBytes ?? 0x7fffffff, isEmpty: true }
  return body.topics.map(({ topicId = '', partitions }) => {
    const topic = model.topics.findById(topicId)
    const read = (asked: FetchPartition): PartitionData => {
      if (topic === undefined) return refused(asked, codes.UNKNOWN_TOPIC_ID)
      const served = serving(model, node, topic.name, asked.partition)
      return readPartition(served, asked, isolationOf(body.isolationLevel), budget)
    }
    return { topicId, partitions: partitions.map(read) }
  })
}

function readPartition(served: Serving, asked: FetchPartition, isolation: Isolation, budget: Budget): PartitionData {
  if (served.as === 'none') return refused(asked, served.code, served)
  const known = served.as === 'leader' ? served.partition : served.view
  const epochCode = checkLeaderEpoch(asked.currentLeaderEpoch, known.leaderEpoch)
  if (epochCode !== codes.NONE) return refused(asked, epochCode, served)
  if (served.as === 'ex-leader' && asked.fetchOffset > served.view.endOffset) {
    return refused(asked, codes.OFFSET_OUT_OF_RANGE)
  }
  const { log } = served.partition
  const maxBytes = Math.min(asked.partitionMaxBytes, budget.bytesLeft)
  const result = log.read(asked.fetchOffset, isolation, maxBytes, budget.isEmpty)
  if (result.code !== codes.NONE) return refused(asked, result.code)
  const view = served.as === 'ex-leader' ? served.view : log
  const isBeyondView =
    served.as === 'ex-leader' && result.bytes.length > 0 && asked.fetchOffset >= boundOf(served.view, isolation)
  const shown = isBeyondView ? { ...result, bytes: Buffer.alloc(0) } : result
  budget.bytesLeft = Math.max(0, budget.bytesLeft - shown.bytes.length)
  budget.isEmpty &&= shown.bytes.length === 0
  return partitionData(asked, shown, view, log.startOffset)
}

interface Bounds {
  readonly endOffset: bigint
  readonly lastStableOffset: bigint
}

const boundOf = (view: Bounds, isolation: Isolation): bigint =>
  isolation === 'read_committed' ? view.lastStableOffset : view.endOffset

function partitionData(asked: FetchPartition, result: ReadResult, view: Bounds, logStartOffset: bigint): PartitionData {
  return {
    ...refused(asked, codes.NONE),
    highWatermark: view.endOffset,
    lastStableOffset: view.lastStableOffset,
    logStartOffset,
    abortedTransactions: result.aborted?.map(({ producerId, firstOffset }) => ({ producerId, firstOffset })) ?? null,
    records: result.bytes,
  }
}

function refused(asked: FetchPartition, errorCode: number, served?: Serving): PartitionData {
  return {
    partitionIndex: asked.partition,
    errorCode,
    highWatermark: -1n,
    lastStableOffset: -1n,
    logStartOffset: -1n,
    divergingEpoch: { epoch: -1, endOffset: -1n },
    currentLeader: served === undefined ? { leaderId: -1, leaderEpoch: -1 } : leaderHint(served),
    snapshotId: { endOffset: -1n, epoch: -1 },
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: Buffer.alloc(0),
  }
}
