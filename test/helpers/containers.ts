/** Cold containers of a relay's function, composed as the functions compose them. */
import { type Clock, systemClock, systemRandom } from '../../lib/clock.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import { bytes, defineRelay, nullable, type Relay, topic } from '../../lib/index.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { RelayObserver } from '../../lib/relay/observer.ts'
import type { EngineSettings, RelayRuntime } from '../../lib/relay/runtime.ts'
import { openIdempotentProducer } from '../../lib/transaction/idempotent-producer.ts'
import { clusterAt, within } from './kafka-client.ts'

export interface Names {
  readonly source: string
  readonly output: string
  readonly dead: string
}

/** Where a relay runs: what all its containers share. */
export interface ContainerPlace {
  readonly brokers: readonly string[]
  readonly names: Names
  readonly prefix: string
  readonly fences: FenceStore
}

export interface ContainerOptions {
  readonly define?: (names: Names) => Relay
  readonly cluster?: Cluster
  readonly fences?: FenceStore
  readonly settings?: Partial<EngineSettings>
  readonly observer?: RelayObserver
  readonly clock?: Clock
}

/** Copies every record as it is, tombstones too. */
export const copyRelay = ({ source, output, dead }: Names): Relay =>
  defineRelay({
    name: 'copy',
    source: topic(source, nullable(bytes())),
    outputs: { copy: topic(output, nullable(bytes())) },
    deadLetters: topic(dead),
    transform: (record, { emit }) => emit.copy(record.value),
  })

export async function startContainer(place: ContainerPlace, over: ContainerOptions = {}): Promise<RelayRuntime> {
  const { cluster = clusterAt(place.brokers), clock = systemClock, define = copyRelay } = over
  const relay = define(place.names)
  return {
    relay,
    running: await relay.start({ secret: async () => '', deadline: within(10_000), clock }),
    cluster,
    fences: over.fences ?? place.fences,
    openProducer: (deadline) => openIdempotentProducer(cluster, systemRandom, deadline),
    settings: { ...settingsOf(place.prefix), ...over.settings },
    clock,
    random: systemRandom,
    observer: over.observer ?? {},
    warm: new Map(),
    batchBytesMax: new Map(),
  }
}

const settingsOf = (prefix: string): EngineSettings => ({
  prefix,
  transactionTimeoutMs: 60_000,
  functionTimeoutMs: 30_000,
  commitReserveMs: 500,
  leaseMs: 1500,
  renewEveryMs: 500,
  generation: 1,
  container: 'test',
  rack: '',
})
