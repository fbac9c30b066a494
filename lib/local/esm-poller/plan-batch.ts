/** Records that wait in one partition, in order, each with its bytes in an event. */
export interface Waiting {
  /** Of the partition's group in the event, without records. */
  readonly groupBytes: number
  readonly entries: readonly { readonly jsonBytes: number }[]
}

export interface BatchLimits {
  readonly recordsMax: number
  readonly payloadBytesMax: number
  readonly envelopeBytes: number
}

export interface BatchPlan {
  /** How many records to take from each partition, from its front. */
  readonly counts: readonly number[]
  readonly records: number
  /** The exact length of the event's JSON. */
  readonly payloadBytes: number
  /** Nothing more fits: there is no point in waiting for the batching window. */
  readonly full: boolean
}

/**
 * What the next event takes, greedily in the order given: a partition is taken as far as it fits, then the next. Records
 * of one partition stay in order, and several partitions share an event, as Lambda's documentation says.
 * A record that does not fit even alone must not be among them (see `fitsAlone`).
 */
export function planBatch(waiting: readonly Waiting[], limits: BatchLimits): BatchPlan {
  let payloadBytes = limits.envelopeBytes
  let records = 0
  let groups = 0
  let full = false
  const counts = waiting.map(({ groupBytes, entries }) => {
    let count = 0
    for (const { jsonBytes } of entries) {
      const opening = count > 0 ? 1 : groupBytes + (groups > 0 ? 1 : 0)
      full ||= records === limits.recordsMax || payloadBytes + opening + jsonBytes > limits.payloadBytesMax
      if (full) break
      payloadBytes += opening + jsonBytes
      records++
      count++
    }
    if (count > 0) groups++
    return count
  })
  return { counts, records, payloadBytes, full: full || records === limits.recordsMax }
}

/** Whether an event can carry a record at all. */
export const fitsAlone = (
  groupBytes: number,
  jsonBytes: number,
  limits: Pick<BatchLimits, 'payloadBytesMax' | 'envelopeBytes'>,
): boolean => limits.envelopeBytes + groupBytes + jsonBytes <= limits.payloadBytesMax
