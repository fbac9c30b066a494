import type { Deadline } from '../../clock.ts'
import { isRelayError, RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { partitionFor } from '../../kafka/partitioner.ts'
import type { KafkaRecord, Output } from '../../kafka/record.ts'
import { describeTopicConfigs } from '../../kafka/topic-configs.ts'
import { redriveName } from '../../transaction/ids.ts'
import {
  type CompiledRelay,
  type OutputSink,
  type RunningRelay,
  rejectionKey,
  type TransformCounts,
  type TransformOptions,
} from '../compiled-relay.ts'
import { runtimeOf } from '../connect-deployment.ts'
import type { RelayDeployment, RelayRuntime } from '../runtime.ts'
import { type DeadLetter, parseDeadLetter } from '../transform/dead-letter.ts'
import { restoreOriginal } from './restore.ts'

export interface RedriveOptions {
  /** Where records go; null: back to the relay's source. */
  readonly to: string | null
  /** Hears of each letter that stays where it is. Told again when its window is tried again. */
  onLeft(left: LeftLetter): void
}

/** A dead letter of this relay that cannot be sent back. */
export interface LeftLetter {
  /** In the dead letter topic. */
  readonly partition: number
  readonly offset: bigint
  readonly why: string
}

/**
 * Sends a relay's dead letters back, once each: a relay of its own from the dead letter topic to the source, with its own
 * lanes, fences, transactional ids and commit group. So it may be killed at any point and goes on where it was.
 * @throws RelayError CONFIG_INVALID when the relay has no dead letters
 */
export async function redriveRuntime(
  deployment: RelayDeployment,
  options: RedriveOptions,
  deadline: Deadline,
): Promise<RelayRuntime> {
  const { relay, cluster, clock } = deployment
  const to = options.to ?? relay.sourceTopic
  const configs = await describeTopicConfigs(cluster, [to], ['retention.ms'], deadline)
  const retentionMs = Number(configs.get(to)?.get('retention.ms') ?? -1)
  const plan = { relay, to, cluster, onLeft: options.onLeft, timestamp: timestampRule(clock.now(), retentionMs) }
  return runtimeOf({ ...deployment, relay: redriveRelay(relay, to) }, new RunningRedrive(plan))
}

/** All that the engine needs to know of the way back. @throws RelayError CONFIG_INVALID */
export function redriveRelay(relay: CompiledRelay, to: string): CompiledRelay {
  const { deadLetters } = relay
  if (deadLetters === null) {
    throw new RelayError('CONFIG_INVALID', `relay '${relay.name}' has no dead letters: there is nothing to send back`)
  }
  if (to === deadLetters) {
    throw new RelayError('CONFIG_INVALID', `'${to}' is the dead letter topic itself; send the letters anywhere else`)
  }
  return {
    ...relay,
    name: redriveName(relay.name),
    sourceTopic: deadLetters,
    outputTopics: [to],
    deadLetters: null,
    guarantee: 'exactly-once',
    startAt: 'earliest',
    read: 'log',
    partitionsPerLane: 1,
  }
}

/** A record is dated now where its own time would have the target topic delete it at once, before anybody has read it. */
const timestampRule =
  (nowMs: number, retentionMs: number) =>
  (timestampMs: number): number =>
    retentionMs >= 0 && timestampMs < nowMs - retentionMs / 2 ? nowMs : timestampMs

interface Plan {
  readonly relay: CompiledRelay
  readonly to: string
  readonly cluster: Cluster
  readonly onLeft: (left: LeftLetter) => void
  readonly timestamp: (timestampMs: number) => number
}

const lettersPerTurn = 500

class RunningRedrive implements RunningRelay {
  readonly #plan: Plan

  constructor(plan: Plan) {
    this.#plan = plan
  }

  async transform(
    records: readonly KafkaRecord[],
    sink: OutputSink,
    options: TransformOptions,
  ): Promise<TransformCounts> {
    let outputs = 0
    for (const [index, record] of records.entries()) {
      if (await this.#sendBack(record, sink, options)) outputs++
      if (index % lettersPerTurn === lettersPerTurn - 1) await options.yieldNow()
      if (options.deadline.remainingMs() <= 0) throw timedOut()
    }
    return { records: records.length, outputs, deadLetters: 0, skipped: records.length - outputs }
  }

  /** Letters of other relays that share the topic are none of our business. */
  async #sendBack(record: KafkaRecord, sink: OutputSink, options: TransformOptions): Promise<boolean> {
    const letter = parseDeadLetter(record.headers)
    if (letter?.relay !== this.#plan.relay.name) return false
    const why = await this.#appendOrWhyNot(letter, record, sink, options)
    if (why !== null) this.#plan.onLeft({ partition: record.partition, offset: record.offset, why })
    return why === null
  }

  async #appendOrWhyNot(
    letter: DeadLetter,
    record: KafkaRecord,
    sink: OutputSink,
    { rejected, deadline }: TransformOptions,
  ): Promise<string | null> {
    const { relay, to, cluster, timestamp } = this.#plan
    const refused = rejected.get(rejectionKey(record.topic, record.partition, record.offset))
    if (refused) return refused.message
    if (letter.topic !== to && to === relay.sourceTopic) return `it comes from topic '${letter.topic}'`
    const original = await restoreOriginal(cluster, letter, record, deadline)
    if (original === null) return 'it was cut, and the source has not the record any more'
    const { key, value, headers } = original
    const output = { key, value, headers: headers ?? [], timestampMs: timestamp(letter.timestampMs) }
    return appendOrWhyNot(sink, { topic: to, partition: placeOf(letter, to, key, sink), record: output })
  }
}

const timedOut = (): RelayError =>
  new RelayError('TRANSFORM_TIMED_OUT', 'restoring the dead letters of a window takes too long; fewer are tried')

/** The partition that it came from, where there is one. */
function placeOf({ topic, partition }: DeadLetter, to: string, key: Buffer | null, sink: OutputSink): number {
  const partitionCount = sink.partitionCount(to)
  if (topic === to && partition < partitionCount) return partition
  return partitionFor({ key, sourcePartition: partition, partitionCount })
}

function appendOrWhyNot(sink: OutputSink, output: Output): string | null {
  try {
    sink.append([output])
    return null
  } catch (error) {
    if (isRelayError(error) && error.disposition === 'reject-record') return error.message
    throw error
  }
}
