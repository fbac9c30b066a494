import type { Header, OutputRecord } from '../record.ts'
import { varintBytes, writeVarint } from './varint.ts'

/** Header names are few and come with every record: each is encoded once. Emptied when somebody makes names up. */
const encodedNames = new Map<string, Buffer>()
const encodedNamesMax = 1000

/** Below this a loop beats the call into the engine's copy. */
const loopBelowBytes = 24

/** Size of a record behind its length field, at `offsetDelta` in a batch that begins at `timestampMs - timestampDelta`. */
export function recordBodyBytes(record: OutputRecord, timestampDelta: number, offsetDelta: number): number {
  const { key, value, headers } = record
  let bytes = 1 + varintBytes(timestampDelta) + varintBytes(offsetDelta) + fieldBytes(key) + fieldBytes(value)
  bytes += headers === undefined ? 1 : varintBytes(headers.length)
  if (headers !== undefined) for (const header of headers) bytes += headerBytes(header)
  return bytes
}

/** Writes one record, length field first, at `at`; returns the position behind it. The room must be there. */
export function writeRecord(
  bytes: Buffer,
  at: number,
  record: OutputRecord,
  bodyBytes: number,
  timestampDelta: number,
  offsetDelta: number,
): number {
  let position = writeVarint(bytes, at, bodyBytes)
  bytes[position++] = 0 // attributes: none are defined
  position = writeVarint(bytes, position, timestampDelta)
  position = writeVarint(bytes, position, offsetDelta)
  position = writeField(bytes, position, record.key)
  position = writeField(bytes, position, record.value)
  return writeHeaders(bytes, position, record.headers)
}

function fieldBytes(field: Buffer | null): number {
  return field === null ? 1 : varintBytes(field.length) + field.length
}

function headerBytes({ key, value }: Header): number {
  return fieldBytes(encodedName(key)) + fieldBytes(value)
}

/** A length and the bytes; -1 and nothing for null, which differs from an empty field. */
function writeField(bytes: Buffer, at: number, field: Buffer | null): number {
  if (field === null) return writeVarint(bytes, at, -1)
  const { length } = field
  const position = writeVarint(bytes, at, length)
  if (length < loopBelowBytes) for (let i = 0; i < length; i++) bytes[position + i] = field[i] as number
  else bytes.set(field, position)
  return position + length
}

function writeHeaders(bytes: Buffer, at: number, headers: readonly Header[] | undefined): number {
  if (headers === undefined) return writeVarint(bytes, at, 0)
  let position = writeVarint(bytes, at, headers.length)
  for (const { key, value } of headers) {
    position = writeField(bytes, position, encodedName(key))
    position = writeField(bytes, position, value)
  }
  return position
}

function encodedName(name: string): Buffer {
  const known = encodedNames.get(name)
  if (known !== undefined) return known
  if (encodedNames.size >= encodedNamesMax) encodedNames.clear()
  const encoded = Buffer.from(name)
  encodedNames.set(name, encoded)
  return encoded
}
