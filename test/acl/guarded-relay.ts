/** A relay that logs in as a user with ACLs, and the topics that its operator sees. */
import { systemClock, systemRandom } from '../../lib/clock.ts'
import { isRelayError, type RelayError } from '../../lib/errors.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import { bytes, defineRelay, type Relay, topic } from '../../lib/index.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../lib/kafka/kafkajs-transport.ts'
import { type AwsPlace, readTable } from '../../lib/preflight/facts/table-store.ts'
import { type PreflightReport, preflight } from '../../lib/preflight/preflight.ts'
import type { RelayRuntime } from '../../lib/relay/runtime.ts'
import { type Names, startContainer } from '../helpers/containers.ts'
import { within } from '../helpers/kafka-client.ts'
import { readCommitted } from '../helpers/read-committed.ts'
import { ring } from '../helpers/ringing.ts'
import { appendRecords } from '../helpers/writing.ts'
import { type AuthorizedBroker, relayUser } from './authorized-broker.ts'

export const prefix = 'shop'
export const table = 'fencepost-acls'
export const names: Names = { source: 'orders', output: 'orders.copied', dead: 'orders.dead' }

/** Copies what it can; what begins with `bad` is a dead letter, so that every topic is written to. */
const copying = (guarantee: 'exactly-once' | 'at-least-once'): Relay =>
  defineRelay({
    name: 'copy',
    guarantee,
    source: topic(names.source, bytes()),
    outputs: { copy: topic(names.output, bytes()) },
    deadLetters: topic(names.dead),
    transform(record, { emit }) {
      if (String(record.raw.value).startsWith('bad')) throw new Error('bad')
      emit.copy(record.value)
    },
  })

export const copyRelay = copying('exactly-once')

export class GuardedRelay {
  readonly #broker: AuthorizedBroker
  readonly #fences: FenceStore
  readonly #dynamoDb: AwsPlace
  readonly #admin: Cluster
  readonly #open: Cluster[] = []
  readonly #written: string[] = []

  constructor(broker: AuthorizedBroker, fences: FenceStore, dynamoDb: AwsPlace, admin: Cluster) {
    this.#broker = broker
    this.#fences = fences
    this.#dynamoDb = dynamoDb
    this.#admin = admin
  }

  /** As the relay's user. */
  login(): Cluster {
    const sasl = { mechanism: 'plain', username: relayUser.name, password: relayUser.password } as const
    const transport = createKafkaTransport({ clientId: 'fencepost-acl', brokers: [this.#broker.sasl], sasl })
    const cluster = createCluster(transport, systemClock, systemRandom)
    this.#open.push(cluster)
    return cluster
  }

  /** A cold one. */
  container(guarantee: 'exactly-once' | 'at-least-once' = 'exactly-once'): Promise<RelayRuntime> {
    const { sasl } = this.#broker
    const place = { brokers: [sasl], names, prefix, fences: this.#fences }
    return startContainer(place, {
      cluster: this.login(),
      define: () => copying(guarantee),
      settings: { leaseMs: 1_000 },
    })
  }

  /** `fencepost preflight` as the relay's user. */
  preflight(): Promise<PreflightReport> {
    const place = {
      prefix,
      relays: [copyRelay],
      transactionTimeoutMs: 60_000,
      sweepEveryMs: 900_000,
      weakTopicsAccepted: true,
      localStores: true,
      cluster: this.login(),
      fences: this.#fences,
      table: () => readTable(table, this.#dynamoDb),
      bucket: null,
      mappings: [],
    }
    return preflight(place, within(20_000))
  }

  async write(): Promise<void> {
    const number = this.#written.length
    const values = [`good-${number}`, `bad-${number + 1}`, `good-${number + 2}`]
    const records = values.map((value) => ({ value: Buffer.from(value) }))
    await appendRecords(this.#admin, { topic: names.source, partition: 0 }, records)
    this.#written.push(...values)
  }

  /** Why nothing could be relayed; null when all was. */
  async tryToRelay(runtime: RelayRuntime): Promise<RelayError | null> {
    try {
      const { lanes } = await ring(runtime)
      const failed = lanes.find((lane) => lane.kind === 'failed')
      const stopped = lanes.find((lane) => lane.kind === 'stopped')
      if (stopped) throw new Error(`lane stopped: ${stopped.message}`)
      return failed?.error ?? null
    } catch (error) {
      if (isRelayError(error)) return error
      throw error
    }
  }

  /** How many records are missing from the topics as a read_committed reader sees them, and how many are there twice. */
  async compare(): Promise<{ readonly lost: number; readonly duplicated: number }> {
    const copied = await readCommitted(this.#admin, names.output, 1)
    const dead = await readCommitted(this.#admin, names.dead, 1)
    const found = [...copied, ...dead]
    const lost = this.#written.filter((value) => !found.includes(value)).length
    return { lost, duplicated: found.length - new Set(found).size }
  }

  get written(): number {
    return this.#written.length
  }

  async close(): Promise<void> {
    for (const cluster of this.#open.splice(0)) await cluster.close()
  }
}
