import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AbortedTransaction } from '../../../../lib/kafka/record-batch/aborted.ts'
import { readBatches } from '../../../../lib/kafka/record-batch/decode.ts'
import { header } from '../../../../lib/kafka/record-batch/layout.ts'
import { type Range, readRange } from '../../../../lib/kafka/record-batch/read-range.ts'
import { logBatch, marker, resign } from '../../../helpers/log-batches.ts'

const all: Range = { from: 0n, until: 1_000_000n }

function read(log: readonly Buffer[], range: Partial<Range> = {}, aborted: readonly AbortedTransaction[] = []) {
  const batches = readBatches(Buffer.concat(log), { topic: 'flights', partition: 0 })
  const { records, until, markers } = readRange(batches, { ...all, ...range }, aborted)
  return { offsets: records.map(({ offset }) => Number(offset)), until: Number(until), markers }
}

const plain = (baseOffset: number, ...deltas: number[]) => logBatch({ baseOffset: BigInt(baseOffset), deltas })
const inTxn = (producerId: bigint, baseOffset: number, ...deltas: number[]) =>
  logBatch({ baseOffset: BigInt(baseOffset), deltas, producerId, transactional: true })
const abort = (producerId: bigint, offset: number) => marker('abort', BigInt(offset), producerId)
const commit = (producerId: bigint, offset: number) => marker('commit', BigInt(offset), producerId)
const from = (producerId: bigint, firstOffset: number) => ({ producerId, firstOffset: BigInt(firstOffset) })

test('records of committed transactions are kept, markers are not records, and the position is behind them', () => {
  const { offsets, until, markers } = read([inTxn(1n, 0, 0, 1), commit(1n, 2)])
  expect({ offsets, until }).toEqual({ offsets: [0, 1], until: 3 })
  expect(markers).toEqual([{ kind: 'commit', offset: 2n, producerId: 1n, producerEpoch: 0 }])
})

test('records of an aborted transaction are dropped and the position runs over them', () => {
  const log = [plain(0, 0), inTxn(1n, 1, 0, 1), abort(1n, 3)]
  expect(read(log, {}, [from(1n, 1)])).toMatchObject({
    offsets: [0],
    until: 4,
    markers: [{ kind: 'abort', offset: 3n }],
  })
})

test('an aborted list in order of completion drops both transactions', () => {
  const log = [inTxn(1n, 0, 0), inTxn(2n, 1, 0), abort(2n, 2), inTxn(1n, 3, 0), abort(1n, 4), plain(5, 0)]
  expect(read(log, {}, [from(2n, 1), from(1n, 0)])).toMatchObject({ offsets: [5], until: 6 })
})

test('a producer that aborts, commits and aborts again loses only what it aborted', () => {
  const log = [inTxn(1n, 0, 0), abort(1n, 1), inTxn(1n, 2, 0), commit(1n, 3), inTxn(1n, 4, 0), abort(1n, 5)]
  expect(read(log, {}, [from(1n, 4), from(1n, 0)])).toMatchObject({ offsets: [2], until: 6 })
})

test('a read that begins inside an aborted transaction drops its rest', () => {
  expect(read([inTxn(1n, 10, 0, 1), abort(1n, 12)], { from: 11n }, [from(1n, 3)])).toMatchObject({
    offsets: [],
    until: 13,
  })
})

test('other producers, and records without a transaction, are not touched by an open abort', () => {
  const log = [inTxn(1n, 0, 0), plain(1, 0), inTxn(2n, 2, 0), commit(2n, 3), abort(1n, 4)]
  expect(read(log, {}, [from(1n, 0)]).offsets).toEqual([1, 2])
})

test('a data record whose key looks like an abort marker ends no transaction', () => {
  const disguised = logBatch({
    baseOffset: 0n,
    deltas: [0, 1],
    producerId: 1n,
    transactional: true,
    key: Buffer.alloc(4),
  })
  expect(read([disguised, inTxn(1n, 2, 0), abort(1n, 3)], {}, [from(1n, 0)])).toMatchObject({ offsets: [], until: 4 })
})

test('without an aborted list (read_uncommitted) everything but markers is kept', () => {
  expect(read([inTxn(1n, 0, 0), abort(1n, 1)]).offsets).toEqual([0])
})

test('records below the position and at or above the bound are dropped', () => {
  expect(read([plain(0, 0, 1, 2, 3, 4)], { from: 2n, until: 4n })).toMatchObject({ offsets: [2, 3], until: 4 })
})

test('the position is behind a batch, not behind its last record: compacted tails and emptied batches are passed', () => {
  const tailless = logBatch({ baseOffset: 0n, deltas: [0, 3], lastOffsetDelta: 9 })
  const emptied = logBatch({ baseOffset: 10n, deltas: [], lastOffsetDelta: 4 })
  expect(read([tailless])).toMatchObject({ offsets: [0, 3], until: 10 })
  expect(read([tailless, emptied])).toMatchObject({ offsets: [0, 3], until: 15 })
})

test('when all records before the bound were compacted away, the position reaches the bound', () => {
  expect(read([plain(50, 0)], { from: 10n, until: 20n })).toMatchObject({ offsets: [], until: 20 })
})

test('a cut batch leaves the position in front of it', () => {
  const cut = plain(3, 0, 1)
  expect(read([plain(0, 0, 1, 2), cut.subarray(0, cut.length - 1)])).toMatchObject({ offsets: [0, 1, 2], until: 3 })
  expect(read([cut.subarray(0, 70)], { from: 3n })).toMatchObject({ offsets: [], until: 3 })
})

test('a limit in records cuts inside a batch: the position is the first record left out', () => {
  const log = [plain(0, 0, 1, 5, 6), plain(7, 0)]
  expect(read(log, { maxRecords: 2 })).toMatchObject({ offsets: [0, 1], until: 5 })
  expect(read(log, { from: 5n, maxRecords: 2 })).toMatchObject({ offsets: [5, 6], until: 7 })
})

test('a full window still runs over the markers and aborted batches that follow it', () => {
  const log = [inTxn(1n, 0, 0), commit(1n, 1), inTxn(2n, 2, 0), abort(2n, 3), plain(4, 0)]
  expect(read(log, { maxRecords: 1 }, [from(2n, 2)])).toMatchObject({ offsets: [0], until: 4 })
})

/** One step of a made-up log: several producers write, commit and abort; compaction removes some records. */
const step = fc.record({
  producer: fc.nat(3),
  records: fc.integer({ min: 1, max: 4 }),
  end: fc.constantFrom('open', 'commit', 'abort'),
  holes: fc.array(fc.nat(3), { maxLength: 2 }),
})

interface Model {
  readonly log: Buffer[]
  readonly aborted: AbortedTransaction[]
  readonly visible: number[]
  readonly stableEnd: number
}

/** The naive model: decides what is visible by looking at each transaction's end, with the whole history at hand. */
function modelOf(steps: readonly { producer: number; records: number; end: string; holes: number[] }[]): Model {
  const log: Buffer[] = []
  const open = new Map<number, { first: number; offsets: number[] }>()
  const aborted: AbortedTransaction[] = []
  const visible: number[] = []
  let offset = 0
  const finish = (producer: number, end: 'commit' | 'abort') => {
    const txn = open.get(producer)
    if (txn === undefined) return
    if (end === 'commit') visible.push(...txn.offsets)
    else aborted.push(from(BigInt(producer), txn.first))
    log.push(marker(end, BigInt(offset++), BigInt(producer)))
    open.delete(producer)
  }
  for (const { producer, records, end, holes } of steps) {
    const deltas = Array.from({ length: records }, (_, i) => i).filter((delta) => !holes.includes(delta))
    const common = { baseOffset: BigInt(offset), deltas, lastOffsetDelta: records - 1 }
    const offsets = deltas.map((delta) => offset + delta)
    if (producer === 0) {
      log.push(logBatch(common))
      visible.push(...offsets)
    } else {
      log.push(logBatch({ ...common, producerId: BigInt(producer), transactional: true }))
      const txn = open.get(producer) ?? { first: offset, offsets: [] }
      open.set(producer, { ...txn, offsets: [...txn.offsets, ...offsets] })
    }
    offset += records
    if (end !== 'open') finish(producer, end as 'commit' | 'abort')
  }
  for (const producer of [...open.keys()]) finish(producer, 'abort')
  return { log, aborted, visible: visible.sort((a, b) => a - b), stableEnd: offset }
}

/** What a broker answers: batches from the one that holds the position on, cut at a byte limit; aborted ones that touch them. */
function answer({ log, aborted }: Model, position: number, bytes: number) {
  const batches = log.filter((batch) => lastOffset(batch) >= position)
  const size = Math.max(bytes, batches[0]?.length ?? 0)
  return { records: Buffer.concat(batches).subarray(0, size), aborted }
}

const lastOffset = (batch: Buffer): number => Number(batch.readBigInt64BE(0)) + batch.readInt32BE(23)

test('windows of any size over any history give every visible record once, in order, and end at the bound', () => {
  const sizes = fc.record({ bytes: fc.integer({ min: 1, max: 600 }), maxRecords: fc.integer({ min: 1, max: 5 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), sizes, fc.nat(10), (steps, { bytes, maxRecords }, short) => {
      const model = modelOf(steps)
      const until = Math.max(0, model.stableEnd - short)
      const seen: number[] = []
      for (let position = 0; position < until; ) {
        const { records, aborted } = answer(model, position, bytes)
        const range = { from: BigInt(position), until: BigInt(until), maxRecords }
        // A broker lists only transactions that have a marker at or after the position, in order of completion.
        const batches = [...readBatches(records, { topic: 'flights', partition: 0 })]
        const found = readRange(batches, range, endingAfter(model, aborted, position))
        expect(found.records.length).toBeLessThanOrEqual(maxRecords)
        expect(found.until).toBeGreaterThan(position)
        seen.push(...found.records.map(({ offset }) => Number(offset)))
        position = Number(found.until)
      }
      expect(seen).toEqual(model.visible.filter((offset) => offset < until))
    }),
    { numRuns: 500 },
  )
})

function endingAfter({ log }: Model, aborted: readonly AbortedTransaction[], position: number): AbortedTransaction[] {
  const markers = log.filter((batch) => (batch.readInt16BE(21) & 0x20) !== 0)
  return aborted.filter(({ producerId, firstOffset }) => {
    const end = markers.find(
      (batch) => batch.readBigInt64BE(43) === producerId && batch.readBigInt64BE(0) > firstOffset,
    )
    return end !== undefined && lastOffset(end) >= position
  })
}

test.each([
  [
    'its checksum is wrong',
    (batch: Buffer) => void batch.writeUInt8(batch.readUInt8(batch.length - 1) ^ 0xff, batch.length - 1),
  ],
  ['its compression is unknown', (batch: Buffer) => void resign(setCompression(batch, 6))],
  ['its last record is cut', (batch: Buffer) => void resign(setRecordCount(batch, 3))],
])(
  'a batch that cannot be read (%s) ends the range before it, and is an error only where the range begins',
  (_, harm) => {
    const harmed = plain(2, 0, 1)
    harm(harmed)
    const log = [plain(0, 0, 1), harmed, plain(4, 0)]
    expect(read(log)).toMatchObject({ offsets: [0, 1], until: 2 })
    expect(() => read(log.slice(1), { from: 2n })).toThrow(/CORRUPT_BATCH|UNKNOWN_COMPRESSION/)
  },
)

function setCompression(batch: Buffer, bits: number): Buffer {
  batch.writeInt16BE(bits, header.attributes)
  return batch
}

function setRecordCount(batch: Buffer, count: number): Buffer {
  batch.writeInt32BE(count, header.recordCount)
  return batch
}
