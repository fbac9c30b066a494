const seed = 0x9747b28c
const multiplier = 0x5bd1e995

export interface PartitionQuestion {
  readonly key: Buffer | null
  /** Where the source record stands: keyless outputs follow it, so that a retry of the window gives the same partitions. */
  readonly sourcePartition: number
  /** How many partitions the output topic has. */
  readonly partitionCount: number
}

/** The output partition of a record: of a keyed one as the Java client's default partitioner chooses it. */
export function partitionFor({ key, sourcePartition, partitionCount }: PartitionQuestion): number {
  if (key === null) return sourcePartition % partitionCount
  return (murmur2(key) & 0x7fffffff) % partitionCount
}

/** MurmurHash2, 32 bit, signed, with Kafka's seed (Kafka: Utils.murmur2). */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  const tail = length & ~3
  let hash = seed ^ length
  for (let at = 0; at < tail; at += 4) hash = Math.imul(hash, multiplier) ^ scramble(word(bytes, at))
  if (length > tail) hash = Math.imul(hash ^ lastBytes(bytes, tail), multiplier)
  hash = Math.imul(hash ^ (hash >>> 13), multiplier)
  return hash ^ (hash >>> 15)
}

function scramble(word: number): number {
  const mixed = Math.imul(word, multiplier)
  return Math.imul(mixed ^ (mixed >>> 24), multiplier)
}

const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] as number

function word(bytes: Uint8Array, at: number): number {
  return (
    byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24)
  )
}

/** The one to three bytes behind the last whole word, little-endian. */
function lastBytes(bytes: Uint8Array, from: number): number {
  let last = 0
  for (let at = bytes.length - 1; at >= from; at--) last = (last << 8) | byteAt(bytes, at)
  return last
}
