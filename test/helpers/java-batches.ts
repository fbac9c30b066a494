import { readFileSync } from 'node:fs'
import type { OutputRecord } from '../../lib/kafka/record.ts'

const file = new URL('../fixtures/record-batches/batches.json', import.meta.url)
const batches: Readonly<Record<string, string>> = JSON.parse(readFileSync(file, 'utf8'))

/** A batch as Kafka's own Java classes wrote it (MakeBatches.java beside the file). A fresh copy on each call. */
export function javaBatch(name: string): Buffer {
  const base64 = batches[name]
  if (base64 === undefined) throw new Error(`${name} is not in batches.json: run MakeBatches.java again`)
  return Buffer.from(base64, 'base64')
}

const now = 1_700_000_000_000

/** MakeBatches.pattern: bytes that compress, but not to nothing. */
export function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) bytes[i] = (Math.imul(i, i) >>> 7) & 15
  return bytes
}

/** MakeBatches.small: the records of the `small-*` and `plain` batches. */
export const smallRecords: readonly OutputRecord[] = [
  {
    timestampMs: now,
    key: Buffer.from('a'),
    value: Buffer.from('first'),
    headers: [
      { key: 'h', value: Buffer.from('1') },
      { key: 'h', value: null },
      { key: 'π', value: Buffer.from([0x80, 0xff]) },
    ],
  },
  { timestampMs: now + 5, key: null, value: Buffer.alloc(0), headers: [] },
  { timestampMs: now - 10, key: Buffer.alloc(0), value: null, headers: [] },
  { timestampMs: now + 100_000_000_000, key: Buffer.from('k'), value: pattern(5000), headers: [] },
]
