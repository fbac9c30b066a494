import type { Clock } from '../../clock.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import { partitionFor } from '../../kafka/partitioner.ts'
import type { KafkaRecord, Output } from '../../kafka/record.ts'
import type { OutputSink, TransformCounts } from '../compiled-relay.ts'
import type { OnError } from '../definition/relay-definition.ts'
import { StoppedAtRecord } from '../stopped-at-record.ts'
import type { Emission, TransformCall } from './call.ts'
import { deadLetterForms } from './dead-letter.ts'
import { encodeOutput } from './output.ts'
import { recordId } from './source-record.ts'

/** What becomes of a record that can never pass. */
export interface RejectionPolicy {
  readonly relay: string
  readonly onError: OnError
  /** Given whenever `onError` is 'dead-letter'. */
  readonly deadLetters: string | null
}

/** What a record emitted, or why it can never pass. */
export type TransformOutcome = Pick<TransformCall, 'emissions'> | RelayError

/** Puts what the transform made of one window into its sink, record by record, each whole or not at all. */
export class TransformResults {
  readonly #sink: OutputSink
  readonly #policy: RejectionPolicy
  readonly #attempt: number
  readonly #clock: Clock
  readonly #counts = { records: 0, outputs: 0, deadLetters: 0, skipped: 0 }

  constructor(sink: OutputSink, policy: RejectionPolicy, attempt: number, clock: Clock) {
    this.#sink = sink
    this.#policy = policy
    this.#attempt = attempt
    this.#clock = clock
  }

  get counts(): TransformCounts {
    return { ...this.#counts }
  }

  /** Records come in source order. @throws RelayError RECORD_REJECTED_STOP where the relay says `onError: 'stop'` */
  settle(source: KafkaRecord, outcome: TransformOutcome): void {
    if (outcome instanceof RelayError) this.#reject(source, outcome)
    else this.#accept(source, outcome.emissions)
  }

  #accept(source: KafkaRecord, emissions: readonly Emission[]): void {
    try {
      this.#sink.append(this.#encode(emissions), source)
    } catch (error) {
      this.#reject(source, rejectionOf(error, source))
      return
    }
    this.#counts.records++
    this.#counts.outputs += emissions.length
  }

  #encode(emissions: readonly Emission[]): readonly Output[] {
    const first = emissions[0]
    if (first && emissions.length === 1) return [encodeOutput(first, this.#partitionCount)] // most emit once
    return emissions.map((emission) => encodeOutput(emission, this.#partitionCount))
  }

  #reject(source: KafkaRecord, error: RelayError): void {
    const { onError, deadLetters } = this.#policy
    if (onError === 'skip') this.#counts.skipped++
    else if (onError === 'dead-letter' && deadLetters !== null) this.#bury(deadLetters, source, error)
    else throw stopAt(source, error, "mend the relay or the record's producer, then resume the lane")
    this.#counts.records++
  }

  #bury(topic: string, source: KafkaRecord, error: RelayError): void {
    const partitionCount = this.#partitionCount(topic)
    const partition = partitionFor({ key: source.key, sourcePartition: source.partition, partitionCount })
    // The broker refused the record, perhaps for its timestamp: it stays in the headers, and the dead letter is dated now.
    const timestampMs = error.code === 'RECORD_INVALID' ? this.#clock.now() : source.timestampMs
    for (const form of deadLetterForms({ relay: this.#policy.relay, source, error, attempt: this.#attempt })) {
      if (!this.#appendIfItFits({ topic, partition, record: { ...form, timestampMs } }, source)) continue
      this.#counts.deadLetters++
      return
    }
    throw stopAt(
      source,
      error,
      `'${topic}' refuses even its shortened dead letter: raise that topic's max.message.bytes`,
    )
  }

  #appendIfItFits(output: Output, source: KafkaRecord): boolean {
    try {
      this.#sink.append([output], source)
      return true
    } catch (error) {
      if (isRelayError(error) && error.code === 'RECORD_TOO_LARGE') return false
      throw error
    }
  }

  readonly #partitionCount = (topic: string): number => this.#sink.partitionCount(topic)
}

/**
 * What a thrown value says of the record: the reason why it can never pass.
 * @throws the error itself when it is not the record's fault (a retry that the transform asked for, a broken setting)
 */
export function rejectionOf(error: unknown, source: KafkaRecord): RelayError {
  if (!isRelayError(error)) {
    const message = `the transform threw on record ${recordId(source)}: ${messageOf(error)}`
    return new RelayError('TRANSFORM_FAILED', message, { cause: error })
  }
  if (error.disposition !== 'reject-record') throw error
  return error
}

const stopAt = (source: KafkaRecord, rejection: RelayError, fix: string): StoppedAtRecord =>
  new StoppedAtRecord(source, rejection, recordId(source), fix)
