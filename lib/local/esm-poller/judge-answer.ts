import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import { type Entry, groupKey } from './event-encoding.ts'

/** What an answer means for the batch. */
export type Verdict =
  | { readonly kind: 'done' }
  /** The whole batch again. */
  | { readonly kind: 'again'; readonly cause: string }
  | { readonly kind: 'throttled'; readonly cause: string }
  /** By `topic-partition`: everything from this offset on again; all else is done. */
  | { readonly kind: 'partly'; readonly firstFailed: ReadonlyMap<string, number> }

/**
 * Reads the answer as an event source mapping does: without `reportBatchItemFailures` any success is success of all.
 * With it nothing, an empty list or no list is success, the lowest failed offset of a partition counts, and an
 * identifier that names no record of the batch makes the whole batch fail.
 */
export function judgeAnswer(
  result: InvokeResult,
  batch: readonly (readonly Entry[])[],
  reportBatchItemFailures: boolean,
): Verdict {
  if (result.status === 'refused') {
    const { errorType, errorMessage } = result.payload
    return { kind: result.statusCode === 429 ? 'throttled' : 'again', cause: `${errorType}: ${errorMessage}` }
  }
  if (result.status === 'error')
    return { kind: 'again', cause: `${result.payload.errorType}: ${result.payload.errorMessage}` }
  return reportBatchItemFailures ? judgeItems(result.payload, batch) : { kind: 'done' }
}

function judgeItems(answer: unknown, batch: readonly (readonly Entry[])[]): Verdict {
  const failures = fieldOf(answer, 'batchItemFailures')
  if (failures === null || failures === undefined) return { kind: 'done' }
  if (!Array.isArray(failures)) return { kind: 'again', cause: 'batchItemFailures is not a list' }
  const offsets = new Map(
    batch.flatMap((entries) => (entries[0] ? [[groupKey(entries[0].record), offsetsOf(entries)]] : [])),
  )
  const firstFailed = new Map<string, number>()
  for (const failure of failures) {
    const identifier = fieldOf(failure, 'itemIdentifier')
    const partition = String(fieldOf(identifier, 'partition'))
    const offset = fieldOf(identifier, 'offset')
    if (typeof offset !== 'number' || !offsets.get(partition)?.has(offset)) {
      return { kind: 'again', cause: `itemIdentifier ${JSON.stringify(identifier)} names no record of the batch` }
    }
    firstFailed.set(partition, Math.min(offset, firstFailed.get(partition) ?? offset))
  }
  return firstFailed.size === 0 ? { kind: 'done' } : { kind: 'partly', firstFailed }
}

const offsetsOf = (entries: readonly Entry[]): ReadonlySet<number> =>
  new Set(entries.map(({ record }) => record.offset))

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
