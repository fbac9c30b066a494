import type { KafkaRecord } from '../../../lib/kafka/record.ts'
import type { BellPartition } from '../../../lib/relay/bell.ts'
import { topics } from '../sim-relay.ts'
import type { Sabotage } from '../world.ts'

/** Goes on from the last record of an event wherever that begins: its holes are as if they held records of no effect. */
export const trustsHoles: Sabotage = {
  ring(ring) {
    if (ring.kind !== 'event') return ring
    return { ...ring, partitions: ring.partitions.map((one) => ({ ...one, records: () => withoutHoles(one) })) }
  },
}

function withoutHoles({ partition, lastOffset, records }: BellPartition): readonly KafkaRecord[] {
  const known = new Map(records().map((record) => [record.offset, record]))
  return Array.from({ length: Number(lastOffset) + 1 }, (_, offset) => {
    return known.get(BigInt(offset)) ?? recordOfNoEffect(partition, BigInt(offset))
  })
}

const recordOfNoEffect = (partition: number, offset: bigint): KafkaRecord => ({
  topic: topics.source,
  partition,
  offset,
  timestampMs: 0,
  timestampType: 'CreateTime',
  key: null,
  value: Buffer.from('dropped-hole'),
  headers: [],
})
