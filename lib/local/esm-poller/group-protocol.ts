import { RelayError } from '../../errors.ts'

/**
 * What members of a Kafka consumer group tell each other through the broker, version 0 of both messages.
 * Source: `ConsumerProtocolSubscription.json`, `ConsumerProtocolAssignment.json`, Apache Kafka 4.1.0.
 */
export const assignmentProtocol = 'roundrobin'

/** version, topics, no user data */
export const encodeSubscription = (topic: string): Buffer =>
  Buffer.concat([int16(0), int32(1), string(topic), int32(-1)])

export function encodeAssignment(topic: string, partitions: readonly number[]): Buffer {
  return Buffer.concat([
    int16(0),
    int32(1),
    string(topic),
    int32(partitions.length),
    ...partitions.map(int32),
    int32(-1),
  ])
}

/** The partitions of `topic`. Nothing at all is what a member gets that was left out. */
export function decodeAssignment(bytes: Buffer, topic: string): readonly number[] {
  if (bytes.length === 0) return []
  let at = 2
  const topics = bytes.readInt32BE(at)
  at += 4
  for (let index = 0; index < topics; index++) {
    const nameEnd = at + 2 + bytes.readInt16BE(at)
    const name = bytes.toString('utf8', at + 2, nameEnd)
    const count = bytes.readInt32BE(nameEnd)
    at = nameEnd + 4 + 4 * count
    if (name === topic) return Array.from({ length: count }, (_, nth) => bytes.readInt32BE(nameEnd + 4 + 4 * nth))
  }
  throw new RelayError(
    'LOCAL_STACK',
    `The group assigns other topics than ${topic}; give the mapping a group of its own.`,
  )
}

/** The leader's work: partition p to member p modulo their count, in the order of their ids. */
export function assignPartitions(
  memberIds: readonly string[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const sorted = [...memberIds].sort()
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
  return new Map(sorted.map((id, index) => [id, partitions.filter((partition) => partition % sorted.length === index)]))
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)])
