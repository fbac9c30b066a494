import { bytes, defineRelay, topic } from '../../lib/index.ts'

export interface CopyRelay {
  readonly source: string
  readonly output: string
  /** Between the windows of a lingering lane. */
  readonly commitEveryMs?: number
  readonly partitionsPerLane?: number
}

/** The relay of all benchmarks: each record as it is, to the output partition of its key. */
export const copyRelay = ({ source, output, ...options }: CopyRelay) =>
  defineRelay({
    name: 'copy',
    source: topic(source, bytes()),
    outputs: { copied: topic(output, bytes()) },
    ...options,
    transform: (record, { emit }) => emit.copied(record.value),
  })
