/**
 * How many records a core encodes and decodes: 10,000 records a batch, 12-byte keys, CRC32C written and verified.
 * Run: node bench/record-batch.ts. Prints the median of 15 rounds with the spread.
 */
import { parseArgs } from 'node:util'
import { crc32c } from '../lib/kafka/crc32c.ts'
import type { OutputRecord } from '../lib/kafka/record.ts'
import { readBatches } from '../lib/kafka/record-batch/decode.ts'
import { OutputBuffer } from '../lib/kafka/record-batch/output-buffer.ts'
import { readRange } from '../lib/kafka/record-batch/read-range.ts'

const recordsPerBatch = 10_000
const rounds = 15
const roundMs = 200
const identity = { producerId: 1n, producerEpoch: 0, baseSequence: 0, transactional: true }
const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })

interface Figure {
  readonly name: string
  readonly recordsPerSecond: number
  readonly spread: readonly [number, number]
}

function recordsOf(valueBytes: number, headers: number): OutputRecord[] {
  return Array.from({ length: recordsPerBatch }, (_, i) => ({
    key: Buffer.from(`key-${String(i).padStart(8, '0')}`),
    value: Buffer.alloc(valueBytes, i),
    timestampMs: 1_700_000_000_000 + i,
    headers: Array.from({ length: headers }, (_, n) => ({ key: `header-${n}`, value: Buffer.from(`value-${i}`) })),
  }))
}

function encoder(records: readonly OutputRecord[]): () => Buffer {
  const outputs = records.map((record) => [{ topic: 'bench', partition: 0, record }])
  const buffer = new OutputBuffer({ maxMessageBytes: () => 100_000_000 })
  return () => {
    buffer.reset()
    for (const output of outputs) buffer.append(output)
    const [batch] = buffer.partitions()[0]?.batches ?? []
    return batch?.build(identity) ?? Buffer.alloc(0)
  }
}

function decoder(batch: Buffer): () => number {
  const source = { topic: 'bench', partition: 0 }
  const range = { from: 0n, until: BigInt(recordsPerBatch) }
  return () => readRange(readBatches(batch, source), range, []).records.length
}

/** Records a second, median of the rounds. */
function measure(name: string, work: () => unknown): Figure {
  const rates = Array.from({ length: rounds + 3 }, () => rateOf(work)).slice(3)
  rates.sort((a, b) => a - b)
  return { name, recordsPerSecond: at(rates, rounds >> 1), spread: [at(rates, 0), at(rates, rounds - 1)] }
}

const at = (rates: readonly number[], index: number): number => Math.round(rates[index] ?? 0)

function rateOf(work: () => unknown): number {
  const startMs = performance.now()
  let runs = 0
  while (performance.now() - startMs < roundMs) {
    work()
    runs++
  }
  return (runs * recordsPerBatch * 1000) / (performance.now() - startMs)
}

const figures = [
  { valueBytes: 100, headers: 0 },
  { valueBytes: 1024, headers: 0 },
  { valueBytes: 100, headers: 2 },
].flatMap(({ valueBytes, headers }) => {
  const label = `${valueBytes} B${headers > 0 ? `, ${headers} headers` : ''}`
  const encode = encoder(recordsOf(valueBytes, headers))
  return [measure(`encode ${label}`, encode), measure(`decode ${label}`, decoder(Buffer.from(encode())))]
})

const megabyte = Buffer.alloc(1_000_000, 7)
const crc = rateOf(() => crc32c(megabyte)) / recordsPerBatch / 1000

if (values.json) console.log(JSON.stringify({ node: process.version, figures, crc32cGigabytesPerSecond: crc }))
else {
  for (const { name, recordsPerSecond, spread } of figures) {
    const millions = [recordsPerSecond, ...spread].map((rate) => (rate / 1e6).toFixed(2))
    console.log(`${name.padEnd(26)} ${millions[0]} M records/s (${millions[1]} to ${millions[2]})`)
  }
  console.log(`${'crc32c'.padEnd(26)} ${crc.toFixed(2)} GB/s`)
}
