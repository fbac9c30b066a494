import { invariant } from '../invariant.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'

/**
 * A partition whose records from `fromOffset` on must be delivered again. It must be the offset of a record in the
 * event, not a position in a hole: an identifier that names no record fails the whole batch. A bell's `firstOffset` is safe.
 */
export interface PartitionFailure extends TopicPartition {
  readonly fromOffset: bigint
}

/** The answer that an event source mapping with `ReportBatchItemFailures` reads. An empty list is success. */
export interface PartialFailures {
  readonly batchItemFailures: readonly {
    readonly itemIdentifier: { readonly partition: string; readonly offset: number }
  }[]
}

/**
 * Names the first failed offset of each failed partition: everything before it in the batch counts as done, everything
 * from it on is delivered again. Several failures of one partition become the lowest.
 *
 * Only for mappings that have `ReportBatchItemFailures`: without it the answer is ignored, which means success.
 * Source: AWS Lambda developer guide, "Kafka retry configurations".
 */
export function partialFailures(failures: Iterable<PartitionFailure>): PartialFailures {
  const lowest = new Map<string, bigint>()
  for (const failure of failures) {
    const known = lowest.get(tpKey(failure))
    if (known === undefined || failure.fromOffset < known) lowest.set(tpKey(failure), failure.fromOffset)
  }
  return {
    batchItemFailures: [...lowest].map(([partition, offset]) => ({
      itemIdentifier: { partition, offset: exactNumber(partition, offset) },
    })),
  }
}

function exactNumber(partition: string, offset: bigint): number {
  const number = Number(offset)
  invariant(Number.isSafeInteger(number), 'an offset that came in an event fits a JSON number', { partition, offset })
  return number
}
