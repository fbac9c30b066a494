import type { Flight } from './flights.ts'

/** What the relay must make of a source record; known here by counting, not by asking the relay. */
export type Fate = 'late' | 'onTime' | 'dead'

export interface SourceRecord {
  readonly key: Buffer
  readonly value: Buffer
  readonly fate: Fate
}

/** One record in so many is malformed. */
const malformedEvery = 10_000
/** Within each so many: early enough that small runs have one too. */
const malformedAt = 1_234
const lateFromMinutes = 15

/** The record of flight number `index`: JSON keyed by its origin, or one that no reader can make sense of. */
export function sourceRecord(flight: Flight, index: number): SourceRecord {
  const key = Buffer.from(flight.origin)
  if (index % malformedEvery === malformedAt) return { key, value: malformed(flight, index), fate: 'dead' }
  const fate = flight.delay < lateFromMinutes ? 'onTime' : 'late'
  return { key, value: Buffer.from(JSON.stringify(flight)), fate }
}

/** In turn: JSON that ends in the middle, a field of another type, a missing field, no JSON at all. */
function malformed(flight: Flight, index: number): Buffer {
  const text = JSON.stringify(flight)
  const kinds = [
    () => Buffer.from(text.slice(0, text.length / 2)),
    () => Buffer.from(JSON.stringify({ ...flight, delay: 'cancelled' })),
    () => Buffer.from(JSON.stringify({ ...flight, distance: undefined })),
    () => Buffer.from([0xff, 0x00, 0xfe]),
  ]
  const make = kinds[Math.floor(index / malformedEvery) % kinds.length]
  return make ? make() : Buffer.alloc(0)
}
