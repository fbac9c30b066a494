/**
 * The string that travels with every committed offset (Kafka's limit: `offset.metadata.max.bytes`, 4096). It is the
 * provenance of the offset: who committed it, under which fence, of which log. Reconciling trusts no offset without it,
 * since a memberless group accepts a plain commit from anybody (P2).
 */
export interface CommitMetadata {
  /** Random, made with the fence record: tells two deployments with one prefix apart. */
  readonly lineage: string
  /** Transactional id of the lane. */
  readonly id: string
  readonly topicId: string
  readonly clusterId: string
  readonly token: number
  /** Where the window that committed this offset began. */
  readonly from: bigint
}

const version = 1

export function formatCommitMetadata(metadata: CommitMetadata): string {
  const { lineage, id, topicId, clusterId, token, from } = metadata
  return JSON.stringify({ v: version, lineage, id, topicId, clusterId, token, from: from.toString() })
}

/** null when the string is not ours: empty, made by hand, or by another tool. */
export function parseCommitMetadata(text: string): CommitMetadata | null {
  try {
    const { v, lineage, id, topicId, clusterId, token, from } = JSON.parse(text)
    const strings = [lineage, id, topicId, clusterId].every((field) => typeof field === 'string')
    if (v !== version || !strings || !Number.isSafeInteger(token) || !/^\d+$/.test(from)) return null
    return { lineage, id, topicId, clusterId, token, from: BigInt(from) }
  } catch {
    return null
  }
}
