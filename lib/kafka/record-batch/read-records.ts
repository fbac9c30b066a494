import type { Header, KafkaRecord } from '../record.ts'
import { Cursor } from './cursor.ts'
import { LogRecord, type RecordContext } from './log-record.ts'

const noHeaders: readonly Header[] = []
const recordBytesMin = 7

/** The decompressed records of one batch, exactly as many as it says. @throws Error when malformed. */
export function readRecords(payload: Buffer, context: RecordContext): KafkaRecord[] {
  const { recordCount } = context
  if (recordCount < 0 || recordCount * recordBytesMin > payload.length) {
    throw new Error(`${recordCount} records cannot be in ${payload.length} bytes`)
  }
  const cursor = new Cursor(payload)
  const reader = new RecordReader(cursor, context)
  const records = Array<KafkaRecord>(recordCount)
  for (let i = 0; i < recordCount; i++) records[i] = reader.next()
  if (cursor.leftBytes > 0) throw new Error(`${cursor.leftBytes} bytes follow the last of ${recordCount} records`)
  return records
}

class RecordReader {
  private readonly cursor: Cursor
  private readonly context: RecordContext
  private readonly names: { readonly bytes: Buffer; readonly text: string }[] = []
  private lastOffsetDelta = -1

  constructor(cursor: Cursor, context: RecordContext) {
    this.cursor = cursor
    this.context = context
  }

  next(): KafkaRecord {
    const { cursor, context } = this
    const bodyBytes = cursor.varint()
    const end = cursor.at + bodyBytes
    cursor.skip(1) // attributes: none are defined
    const timestampDelta = cursor.varint()
    const offsetDelta = this.nextOffsetDelta()
    const keyBytes = cursor.skipField()
    const keyEnd = cursor.at
    const valueBytes = cursor.skipField()
    const valueEnd = cursor.at
    const headers = this.headers()
    if (cursor.at !== end) throw new Error(`a record of ${bodyBytes} bytes ends ${cursor.at - end} bytes off`)
    const places = { timestampDelta, offsetDelta, keyEnd, keyBytes, valueEnd, valueBytes, headers }
    return new LogRecord(context, cursor.bytes, places)
  }

  private nextOffsetDelta(): number {
    const delta = this.cursor.varint()
    if (delta <= this.lastOffsetDelta) throw new Error(`offset delta ${delta} follows ${this.lastOffsetDelta}`)
    this.lastOffsetDelta = delta
    return delta
  }

  private headers(): readonly Header[] {
    const count = this.cursor.varint()
    if (count === 0) return noHeaders
    if (count < 0 || count > this.cursor.leftBytes)
      throw new Error(`${count} headers in ${this.cursor.leftBytes} bytes`)
    const headers: Header[] = []
    for (let i = 0; i < count; i++) headers.push({ key: this.name(i), value: this.cursor.field() })
    return headers
  }

  /** The names of one record are mostly those of the record before: then the string is there already. */
  private name(index: number): string {
    const length = this.cursor.varint()
    const known = this.names[index]
    if (known !== undefined && this.cursor.startsWith(known.bytes, length)) return known.text
    const bytes = this.cursor.take(length)
    const text = bytes.toString('utf8')
    this.names[index] = { bytes, text }
    return text
  }
}
