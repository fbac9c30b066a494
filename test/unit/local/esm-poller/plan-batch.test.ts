import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KafkaRecord } from '../../../../lib/kafka/record.ts'
import { entryOf, envelopeBytes, eventOf, groupBytes } from '../../../../lib/local/esm-poller/event-encoding.ts'
import { fitsAlone, planBatch } from '../../../../lib/local/esm-poller/plan-batch.ts'

const bytes = fc.option(fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)))
const header = fc.record({ key: fc.string({ unit: 'grapheme', maxLength: 8 }), value: bytes })
const record = (partition: number) =>
  fc.record<KafkaRecord>({
    topic: fc.constant('orders-2'),
    partition: fc.constant(partition),
    offset: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
    timestampMs: fc.nat(),
    timestampType: fc.constantFrom('CreateTime', 'LogAppendTime'),
    key: bytes,
    value: bytes,
    headers: fc.array(header, { maxLength: 3 }),
  })

const partitions = fc.tuple(...[0, 1, 12].map((partition) => fc.array(record(partition), { maxLength: 6 })))

describe('batches', () => {
  test('the planned bytes are exactly those of the event as JSON, and never above the limit', () => {
    const property = fc.property(
      partitions,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 100, max: 4_000 }),
      fc.constantFrom<'null' | 'absent'>('null', 'absent'),
      (groups, recordsMax, payloadBytesMax, tombstone) => {
        const limits = { recordsMax, payloadBytesMax, envelopeBytes: envelopeBytes('a:1,b:2') }
        const waiting = groups.map((records) => {
          const entries = records.map((one) => entryOf(one, tombstone, 0))
          const size = groupBytes('orders-2', records[0]?.partition ?? 0)
          return { groupBytes: size, entries: entries.filter(({ jsonBytes }) => fitsAlone(size, jsonBytes, limits)) }
        })
        const plan = planBatch(waiting, limits)
        const taken = waiting.map(({ entries }, index) => entries.slice(0, plan.counts[index]))
        expect(plan.payloadBytes).toBe(Buffer.byteLength(JSON.stringify(eventOf('a:1,b:2', taken))))
        expect(plan.records).toBe(taken.flat().length)
        expect(plan.records).toBeLessThanOrEqual(recordsMax)
        if (plan.records > 0) expect(plan.payloadBytes).toBeLessThanOrEqual(payloadBytesMax)
        const left = waiting.some(({ entries }, index) => entries.length > (plan.counts[index] ?? 0))
        if (left) expect(plan.full).toBe(true)
        if (waiting.some(({ entries }) => entries.length > 0)) expect(plan.records).toBeGreaterThan(0)
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  const waiting = (...counts: number[]) =>
    counts.map((count) => ({ groupBytes: 10, entries: Array.from({ length: count }, () => ({ jsonBytes: 100 })) }))
  const limits = { recordsMax: 5, payloadBytesMax: 10_000, envelopeBytes: 50 }

  test('partitions are taken in the order given, each as far as it fits', () => {
    expect(planBatch(waiting(3, 4, 1), limits)).toMatchObject({ counts: [3, 2, 0], records: 5, full: true })
  })

  test('a batch is full at its record limit, and not before', () => {
    expect(planBatch(waiting(3, 1), limits)).toMatchObject({ records: 4, full: false })
    expect(planBatch(waiting(3, 2), limits)).toMatchObject({ records: 5, full: true })
  })

  test('the record that would pass the byte limit waits, and nothing overtakes it', () => {
    const [large, small] = [{ jsonBytes: 9_930 }, { jsonBytes: 10 }]
    const queues = [
      { groupBytes: 10, entries: [small, large, small] },
      { groupBytes: 10, entries: [small] },
    ]
    expect(planBatch(queues, limits)).toMatchObject({ counts: [1, 0], full: true })
  })

  test('a record fits alone up to the last byte', () => {
    expect(fitsAlone(10, 9_940, limits)).toBe(true)
    expect(fitsAlone(10, 9_941, limits)).toBe(false)
  })
})
