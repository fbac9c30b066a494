/**
 * Which message of a .proto file a value is: its place among the messages of the file, then within that message, and so
 * on. On the wire a count and the places, as zigzag varints; a single 0 byte stands for the first message of the file.
 * Source: Confluent documentation, "Wire format".
 */
export type MessageIndexes = readonly number[]

export interface IndexedPayload {
  readonly indexes: MessageIndexes
  readonly message: Buffer
}

const countMax = 64

/** @throws TypeError */
export function readIndexes(payload: Buffer): IndexedPayload {
  let at = 0
  const next = (): number => {
    for (let value = 0, shift = 0; shift < 35 && at < payload.length; shift += 7) {
      const byte = payload.readUInt8(at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
    throw new TypeError('the bytes name no message of the schema')
  }
  const count = next()
  if (count === 0) return { indexes: [0], message: payload.subarray(at) }
  if (count < 0 || count > countMax) throw new TypeError(`the bytes name a message ${count} levels deep`)
  const indexes = Array.from({ length: count }, next)
  return { indexes, message: payload.subarray(at) }
}

export function writeIndexes(indexes: MessageIndexes): Buffer {
  if (indexes.length === 1 && indexes[0] === 0) return Buffer.from([0])
  return Buffer.from([indexes.length, ...indexes].flatMap((index) => varint(index * 2)))
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return [...bytes, rest]
}
