import * as v from 'valibot'
import { bytes, defineRelay, json, topic } from '../lib/index.ts'

/** One flight of the United States' on-time statistics, as `vega-datasets` has them. */
const Flight = v.object({
  date: v.string(),
  /** Minutes behind schedule at the gate; below 0: early. */
  delay: v.number(),
  /** Statute miles. */
  distance: v.number(),
  origin: v.string(),
  destination: v.string(),
})

export type Flight = v.InferOutput<typeof Flight>

export interface LateFlight extends Flight {
  readonly km: number
  readonly delayClass: DelayClass
}

export type DelayClass = 'minor' | 'major' | 'severe'

/** The bound of the United States' statistics: a flight less than 15 minutes behind counts as on time. */
const LATE_FROM_MINUTES = 15
const KM_PER_MILE = 1.609344

/** Sorts flights into late ones, enriched, and those on time, passed on byte for byte. */
export default defineRelay({
  name: 'delays',
  source: topic('flights', json(Flight)),
  outputs: {
    late: topic('flights.late', json<LateFlight>()),
    onTime: topic('flights.on-time', bytes()),
  },
  deadLetters: topic('flights.dead'),
  window: { records: 1_000 }, // small: the demo kills functions, and a window that was begun is lost work
  transform(record, { emit }) {
    const flight = record.value
    if (flight.delay < LATE_FROM_MINUTES) return emit.onTime(record.raw.value)
    emit.late({ ...flight, km: Math.round(flight.distance * KM_PER_MILE), delayClass: delayClass(flight.delay) })
  },
})

export function delayClass(delayMinutes: number): DelayClass {
  if (delayMinutes < 45) return 'minor'
  return delayMinutes < 120 ? 'major' : 'severe'
}
