import type { KafkaRecord } from '../kafka/record.ts'

/** What an event said about one partition. The log, not the bell, is the truth. */
export interface BellPartition {
  readonly partition: number
  readonly firstOffset: bigint
  readonly lastOffset: bigint
  /** The payload, decoded on demand: only `read: 'event'` looks at it. */
  readonly records: () => readonly KafkaRecord[]
}

/** Which partitions have work. `pull`: all of the relay's, nothing is known of their offsets, live leases are left alone (R14). */
export type Bell =
  | { readonly kind: 'event'; readonly topic: string; readonly partitions: readonly BellPartition[] }
  | { readonly kind: 'pull'; readonly lingerUntilMs: number | null }

export function ringsFor(bell: Bell, partition: number): BellPartition | undefined {
  return bell.kind === 'event' ? bell.partitions.find((entry) => entry.partition === partition) : undefined
}
