const magic = 0
const headerBytes = 5

/** Confluent's wire format: one byte 0, the schema's id in four bytes, then what the schema describes. */
export interface Framed {
  readonly id: number
  readonly payload: Buffer
}

/** The id in front of a value; null when there is none. */
export function schemaIdOf(value: Buffer): number | null {
  return value.length >= headerBytes && value[0] === magic ? value.readUInt32BE(1) : null
}

/** @throws TypeError when the bytes do not begin as a registry's serializer begins them */
export function unframe(value: Buffer): Framed {
  const id = schemaIdOf(value)
  if (id !== null) return { id, payload: value.subarray(headerBytes) }
  const found = value.length < headerBytes ? 'too short' : `begin with ${value[0]}`
  throw new TypeError(`the ${value.length} bytes are ${found}; wanted 0, a schema id in 4 bytes, and the value`)
}

export function frame(id: number, payload: Uint8Array): Buffer {
  const value = Buffer.allocUnsafe(headerBytes + payload.length)
  value[0] = magic
  value.writeUInt32BE(id, 1)
  value.set(payload, headerBytes)
  return value
}
