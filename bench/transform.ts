/**
 * What the transform costs, from fetched records to encoded batches, without a broker: records per second of CPU time
 * (all threads of the process), so that a busy machine does not change the figures much. Median of several rounds.
 */
import * as v from 'valibot'
import { deadlineIn, systemClock } from '../lib/clock.ts'
import { bytes, defineRelay, json, type Relay, topic } from '../lib/index.ts'
import type { KafkaRecord } from '../lib/kafka/record.ts'
import type { OutputSink } from '../lib/relay/compiled-relay.ts'
import { WindowSink } from '../lib/relay/window-sink.ts'
import delays from '../relays/delays.ts'

const recordsPerWindow = 10_000
const windowsPerRound = 30
const rounds = 7

const Flight = v.object({ delay: v.number(), distance: v.number() })
const source = { source: topic('flights', bytes()), outputs: { kept: topic('kept', bytes()) } }

const relays: Record<string, Relay> = {
  'bytes, filter, nothing kept': defineRelay({ name: 'filter', ...source, transform: () => undefined }),
  'bytes, filter, half kept': defineRelay({
    name: 'half',
    ...source,
    transform: (record, { emit }) => (record.offset % 2n === 0n ? emit.kept(record.value) : undefined),
  }),
  'bytes, passed through': defineRelay({
    name: 'pass',
    ...source,
    transform: (record, { emit }) => emit.kept(record.value),
  }),
  'bytes, passed through, async': defineRelay({
    name: 'pass-async',
    ...source,
    transform: async (record, { emit }) => emit.kept(record.value),
  }),
  'JSON by type, filter': defineRelay({
    name: 'json-filter',
    source: topic('flights', json<{ delay: number }>()),
    outputs: source.outputs,
    transform: (record, { emit }) => (record.value.delay < 15 ? emit.kept(record.raw.value) : undefined),
  }),
  'JSON by valibot, filter': defineRelay({
    name: 'json-schema',
    source: topic('flights', json(Flight)),
    outputs: source.outputs,
    transform: (record, { emit }) => (record.value.delay < 15 ? emit.kept(record.raw.value) : undefined),
  }),
  'relays/delays.ts': delays,
}

const partitions = new Map(['kept', 'flights.late', 'flights.on-time', 'flights.dead'].map((name) => [name, 4]))
const bounds = new Map([...partitions.keys()].map((name) => [name, 1_048_588]))
const sinks: Record<string, () => OutputSink> = {
  discarded: () => ({ partitionCount: () => 4, append: () => undefined }),
  encoded: () => new WindowSink(partitions, bounds),
}

function flights(count: number): KafkaRecord[] {
  const airports = ['SFO', 'LAX', 'JFK', 'ORD', 'ATL', 'SEA']
  return Array.from({ length: count }, (_, index) => {
    const origin = airports[index % airports.length] ?? ''
    const delay = (index * 7) % 60 // three quarters of them late
    const flight = {
      date: '2001/01/10 18:20',
      delay: delay - 15,
      distance: 192 + (index % 2_000),
      origin,
      destination: 'SJC',
    }
    return {
      topic: 'flights',
      partition: 0,
      offset: BigInt(index),
      timestampMs: 979_000_000_000 + index,
      timestampType: 'CreateTime' as const,
      key: Buffer.from(origin),
      value: Buffer.from(JSON.stringify(flight)),
      headers: [],
    }
  })
}

async function recordsPerSecond(
  relay: Relay,
  newSink: () => OutputSink,
  records: readonly KafkaRecord[],
): Promise<number> {
  const deadline = deadlineIn(systemClock, 600_000)
  const running = await relay.start({ secret: async () => '', deadline, clock: systemClock })
  const options = { deadline, attempt: 1, rejected: new Map(), yieldNow: () => systemClock.sleep(0) }
  const rates: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const began = process.cpuUsage()
    for (let window = 0; window < windowsPerRound; window++) await running.transform(records, newSink(), options)
    const { user, system } = process.cpuUsage(began)
    rates.push((windowsPerRound * records.length) / ((user + system) / 1_000_000))
  }
  const measured = rates.slice(1).sort((a, b) => a - b) // the first round warms up
  return measured[Math.floor(measured.length / 2)] ?? 0
}

const records = flights(recordsPerWindow)
for (const [name, relay] of Object.entries(relays)) {
  for (const [sink, newSink] of Object.entries(sinks)) {
    const rate = await recordsPerSecond(relay, newSink, records)
    console.log(`${name.padEnd(30)} ${sink.padEnd(10)} ${(rate / 1_000_000).toFixed(2).padStart(6)} M records/s`)
  }
}
