import type { ErrorCode } from '../errors.ts'
import { type CommitMetadata, parseCommitMetadata } from './commit-metadata.ts'

/** The fence record as step 1 found it, as far as positions depend on it. */
export interface RecordAsFound {
  readonly lineage: string
  readonly token: number
  readonly dirty: boolean
  readonly clusterId: string | null
  readonly sourceTopicId: string | null
  /** F: the last committed position that was remembered, per partition. */
  readonly committedUntil: ReadonlyMap<number, bigint>
  readonly resetTo: ReadonlyMap<number, bigint> | null
}

export interface Committed {
  readonly partition: number
  /** null: nothing is committed. */
  readonly offset: bigint | null
  readonly metadata: string
}

export interface ReconcileInput {
  readonly transactionalId: string
  /** null: the record was made just now, by this acquire. */
  readonly found: RecordAsFound | null
  readonly clusterId: string
  readonly sourceTopicId: string
  readonly committed: readonly Committed[]
}

/** How one partition goes on. `recommit`: the position must be committed again, in our own transaction, before any window. */
export type PartitionVerdict =
  | { readonly kind: 'continue'; readonly position: bigint; readonly recommit: boolean }
  | { readonly kind: 'first-start' }
  | { readonly kind: 'stop'; readonly code: OffsetStop; readonly message: string }

export type OffsetStop = Extract<
  ErrorCode,
  'SOURCE_REPLACED' | 'PREFIX_SHARED' | 'OFFSETS_LOST' | 'OFFSET_REGRESSED' | 'OFFSET_MOVED'
>

export interface Reconciled {
  readonly partitions: ReadonlyMap<number, PartitionVerdict>
  /** The record is older than Kafka's truth (restored or lost): its token must become this, its lineage that of the offsets. */
  readonly adopt: { readonly token: number; readonly lineage: string } | null
  /** An operator's reset was found half done and is finished by committing the positions again (R16). */
  readonly finishesReset: boolean
}

/** These three are believed only after the broker that acknowledges our offsets confirms what it is said to have (R8). */
export const needsConfirmation = (code: OffsetStop): boolean =>
  code === 'OFFSETS_LOST' || code === 'OFFSET_REGRESSED' || code === 'OFFSET_MOVED'

/**
 * Step 4 (R8): where does each partition of the lane go on? Never guesses: whatever the record and the committed offset
 * cannot explain together is a named stop.
 */
export function reconcile(input: ReconcileInput): Reconciled {
  const { found, committed } = input
  const resetTo = found?.resetTo ?? null
  const verdicts = committed.map((answer): [number, PartitionVerdict] => [
    answer.partition,
    finishReset(resetTo, answer) ?? sourceReplaced(input) ?? positionOf(input, answer),
  ])
  return {
    partitions: new Map(verdicts),
    adopt: resetTo ? null : adoption(input),
    finishesReset: resetTo !== null,
  }
}

function finishReset(resetTo: ReadonlyMap<number, bigint> | null, answer: Committed): PartitionVerdict | null {
  const position = resetTo?.get(answer.partition)
  return position === undefined ? null : { kind: 'continue', position, recommit: true }
}

function sourceReplaced({ found, clusterId, sourceTopicId }: ReconcileInput): PartitionVerdict | null {
  if (found?.clusterId && found.clusterId !== clusterId) {
    const told = `the lane was relaying cluster ${found.clusterId}, this is ${clusterId}`
    return stop('SOURCE_REPLACED', `${told}; if both are relayed, give each a prefix of its own`)
  }
  if (found?.sourceTopicId && found.sourceTopicId !== sourceTopicId) {
    return stop('SOURCE_REPLACED', `the source topic had id ${found.sourceTopicId}, now ${sourceTopicId}: made anew?`)
  }
  return null
}

function positionOf(input: ReconcileInput, { partition, offset, metadata }: Committed): PartitionVerdict {
  const { found } = input
  const ours = ownMetadata(input, metadata)
  const remembered = found?.committedUntil.get(partition)
  if (offset === null) return nothingCommitted(found, partition, remembered)
  const stated = parseCommitMetadata(metadata)
  if (stated && found && remembered !== undefined && stated.lineage !== found.lineage) {
    return stop('PREFIX_SHARED', `partition ${partition}: offset ${offset} was committed by lineage ${stated.lineage}`)
  }
  if (stated?.id === input.transactionalId && !ours) {
    const log = `cluster ${stated.clusterId}, topic id ${stated.topicId}`
    return stop('SOURCE_REPLACED', `partition ${partition}: offset ${offset} belongs to another log (${log})`)
  }
  if (!ours) {
    return stop(
      'OFFSET_MOVED',
      `partition ${partition}: offset ${offset} was not committed by ${input.transactionalId}`,
    )
  }
  if (remembered === undefined || ours.token > (found?.token ?? -1)) return goOn(offset)
  return compare(partition, offset, remembered, found?.dirty ?? false)
}

function nothingCommitted(found: RecordAsFound | null, partition: number, remembered?: bigint): PartitionVerdict {
  if (remembered === undefined) return { kind: 'first-start' }
  if (found?.dirty) {
    return stop('OFFSETS_LOST', `partition ${partition}: no offset is committed; it was ${remembered} or later`)
  }
  return { kind: 'continue', position: remembered, recommit: true }
}

function compare(partition: number, offset: bigint, remembered: bigint, dirty: boolean): PartitionVerdict {
  const numbers = `partition ${partition}: committed ${offset}, remembered ${remembered}`
  if (offset === remembered) return goOn(offset)
  if (offset < remembered) return stop('OFFSET_REGRESSED', numbers)
  return dirty ? goOn(offset) : stop('OFFSET_MOVED', `${numbers}, and no window was under way`)
}

/** The metadata if it names this lane, this cluster and this topic; whether its lineage fits is asked separately. */
function ownMetadata(input: ReconcileInput, text: string): CommitMetadata | null {
  const metadata = parseCommitMetadata(text)
  const { transactionalId, clusterId, sourceTopicId } = input
  const named = metadata?.id === transactionalId && metadata.clusterId === clusterId
  return metadata && named && metadata.topicId === sourceTopicId ? metadata : null
}

/** Kafka went on while the table was lost or restored from an older copy: the offsets know the higher token (S9). */
function adoption(input: ReconcileInput): Reconciled['adopt'] {
  const newest = input.committed
    .map(({ metadata }) => ownMetadata(input, metadata))
    .filter((metadata) => metadata !== null)
    .reduce<CommitMetadata | null>((best, next) => (best && best.token >= next.token ? best : next), null)
  if (!newest) return null
  const { found } = input
  const lineageLost = (found?.committedUntil.size ?? 0) === 0 && newest.lineage !== found?.lineage
  const tokenBehind = newest.token > (found?.token ?? 0)
  return lineageLost || tokenBehind ? { token: newest.token + 1, lineage: newest.lineage } : null
}

const goOn = (position: bigint): PartitionVerdict => ({ kind: 'continue', position, recommit: false })
const stop = (code: OffsetStop, message: string): PartitionVerdict => ({ kind: 'stop', code, message })
