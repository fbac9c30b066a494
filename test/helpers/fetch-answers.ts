import type { FetchResponse, PartitionData } from '../../lib/kafka/protocol/generated/fetch.ts'

/** A partition's part of a Fetch answer: an empty log, unless told otherwise. */
export const fetchedPartition = (over: Partial<PartitionData>): PartitionData => ({
  partitionIndex: 0,
  errorCode: 0,
  highWatermark: 0n,
  lastStableOffset: 0n,
  logStartOffset: 0n,
  divergingEpoch: { epoch: -1, endOffset: -1n },
  currentLeader: { leaderId: -1, leaderEpoch: -1 },
  snapshotId: { endOffset: -1n, epoch: -1 },
  abortedTransactions: [],
  preferredReadReplica: -1,
  records: null,
  ...over,
})

/** Of one topic, without a session. */
export const fetchAnswer = (topicId: string, partitions: readonly PartitionData[], errorCode = 0): FetchResponse => ({
  throttleTimeMs: 0,
  errorCode,
  sessionId: 0,
  responses: [{ topicId, partitions }],
  nodeEndpoints: [],
})
