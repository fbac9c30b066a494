import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { ListOffsetsPartition, ListOffsetsPartitionResponse } from '../../kafka/protocol/generated/list-offsets.ts'
import { isolationOf } from './answer-fetch.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { Isolation } from './log.ts'
import type { ModelNode } from './node.ts'
import { checkLeaderEpoch, type Serving, serving } from './serving.ts'

/** Timestamps of ListOffsets that are none (Kafka: `ListOffsetsRequest.java`). */
const latest = -1n
const earliest = -2n
const maxTimestamp = -3n
const earliestLocal = -4n

/** ListOffsets. Source: Kafka `UnifiedLog.fetchOffsetByTimestamp`, `Partition.fetchOffsetForTimestamp`; KIP-79, KIP-320. */
export function answerListOffsets(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'ListOffsets'>,
): ResponseOf<'ListOffsets'> {
  const isolation = isolationOf(body.isolationLevel)
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map((asked) => {
      return listOffset(serving(model, node, name, asked.partitionIndex), asked, isolation)
    }),
  }))
  return { throttleTimeMs: 0, topics }
}

function listOffset(served: Serving, asked: ListOffsetsPartition, isolation: Isolation): ListOffsetsPartitionResponse {
  if (served.as === 'none') return listed(asked, served.code)
  const known = served.as === 'leader' ? served.partition : served.view
  const code = checkLeaderEpoch(asked.currentLeaderEpoch, known.leaderEpoch)
  if (code !== codes.NONE) return listed(asked, code)
  const { log } = served.partition
  const { endOffset, lastStableOffset } = served.as === 'leader' ? log : served.view
  switch (asked.timestamp) {
    case latest: {
      const offset = isolation === 'read_committed' ? lastStableOffset : endOffset
      return listed(asked, codes.NONE, { offset, leaderEpoch: known.leaderEpoch })
    }
    case earliest:
    case earliestLocal: {
      const atStart = log.epochAt(log.startOffset)
      const leaderEpoch = atStart === -1 ? known.leaderEpoch : atStart
      return listed(asked, codes.NONE, { offset: log.startOffset, leaderEpoch })
    }
    case maxTimestamp:
      return listed(asked, codes.NONE, log.newest() ?? {})
    default:
      return listed(asked, codes.NONE, log.offsetAt(Number(asked.timestamp), isolation) ?? {})
  }
}

interface Found {
  readonly offset?: bigint
  readonly timestampMs?: bigint
  readonly leaderEpoch?: number
}

function listed(asked: ListOffsetsPartition, errorCode: number, found: Found = {}): ListOffsetsPartitionResponse {
  const { offset = -1n, timestampMs: timestamp = -1n, leaderEpoch = -1 } = found
  return { partitionIndex: asked.partitionIndex, errorCode, timestamp, offset, leaderEpoch }
}
