import { type Clock, systemClock, systemRandom } from '../../lib/clock.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../lib/fencing/memory-fence-store.ts'
import { partitionFor } from '../../lib/kafka/partitioner.ts'
import type { KafkaRecord } from '../../lib/kafka/record.ts'
import type { Bell } from '../../lib/relay/bell.ts'
import type { CompiledRelay, OutputSink, RunningRelay } from '../../lib/relay/compiled-relay.ts'
import { runInvocation } from '../../lib/relay/invocation.ts'
import type { RelayObserver } from '../../lib/relay/observer.ts'
import type { EngineSettings, RelayRuntime } from '../../lib/relay/runtime.ts'
import { openIdempotentProducer } from '../../lib/transaction/idempotent-producer.ts'
import { clusterAt, within } from './kafka-client.ts'

export interface EngineOptions {
  readonly brokers: readonly string[]
  readonly source: string
  readonly output: string
  readonly prefix: string
  readonly fences?: FenceStore
  readonly observer?: RelayObserver
  readonly clock?: Clock
  readonly settings?: Partial<EngineSettings>
  readonly relay?: Partial<CompiledRelay>
  readonly transform?: (record: KafkaRecord) => void | Promise<void>
}

/** The engine on a real broker: one container. Copies every record to one output, by key. */
export function engine(options: EngineOptions): RelayRuntime {
  const cluster = clusterAt(options.brokers)
  const running = copying(options)
  return {
    relay: {
      name: 'copy',
      sourceTopic: options.source,
      outputTopics: [options.output],
      deadLetters: null,
      guarantee: 'exactly-once',
      startAt: 'earliest',
      read: 'log',
      partitionsPerLane: 1,
      window: { recordsMax: 10_000, bytesMax: 1 << 20, msMax: 5000 },
      commitEveryMs: 1000,
      poisonAttempts: 3,
      start: async () => running,
      ...options.relay,
    },
    running,
    cluster,
    fences: options.fences ?? createMemoryFenceStore(),
    openProducer: (deadline) => openIdempotentProducer(cluster, systemRandom, deadline),
    settings: {
      prefix: options.prefix,
      transactionTimeoutMs: 60_000,
      functionTimeoutMs: 30_000,
      commitReserveMs: 500,
      leaseMs: 5000,
      renewEveryMs: 2000,
      generation: 1,
      container: 'test',
      rack: '',
      ...options.settings,
    },
    clock: options.clock ?? systemClock,
    random: systemRandom,
    observer: options.observer ?? {},
    warm: new Map(),
    batchBytesMax: new Map(),
  }
}

function copying({ output, transform }: EngineOptions): RunningRelay {
  return {
    async transform(records, sink) {
      for (const record of records) {
        await transform?.(record)
        copy(record, output, sink)
      }
      return { records: records.length, outputs: records.length, deadLetters: 0, skipped: 0 }
    },
  }
}

function copy(record: KafkaRecord, topic: string, sink: OutputSink): void {
  const { key, partition: sourcePartition } = record
  const partition = partitionFor({ key, sourcePartition, partitionCount: sink.partitionCount(topic) })
  sink.append([{ topic, partition, record }])
}

export const pull: Bell = { kind: 'pull', lingerUntilMs: null }

export const ring = (runtime: RelayRuntime, bell: Bell = pull, ms = 20_000) =>
  runInvocation(runtime, bell, 'request', within(ms))
