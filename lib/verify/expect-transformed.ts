import { type Clock, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { type KafkaRecord, type Output, tpKey } from '../kafka/record.ts'
import { type OutputSink, type RunningRelay, rejectionKey, type TransformOptions } from '../relay/compiled-relay.ts'
import { minutes } from '../units.ts'
import type { ExpectedRecords } from './history.ts'
import type { Identity } from './identity.ts'
import type { DeadLetterOrigin } from './read-output.ts'
import type { Expecting, SourceAsk } from './read-source.ts'
import { ExpectedColumns } from './record-columns.ts'

export interface Transforming {
  readonly running: RunningRelay
  readonly clock: Clock
  readonly identity: Identity
  /** `tpKey` of each output partition -> its index. */
  readonly outputs: ReadonlyMap<string, number>
  /** Partitions per output topic as the lane of a source partition counts them; `source` is its index. */
  partitionCounts(source: number): ReadonlyMap<string, number>
  /** Outputs with older timestamps are left out; null for all. */
  readonly sinceMs: number | null
  /** Of this relay, as found in the log. */
  readonly deadLetters: readonly DeadLetterOrigin[]
}

/** The same on every try: whoever was rejected for one of these is rejected again, unless something else has changed. */
const reproducible = new Set(['DECODE_FAILED', 'VALIDATION_FAILED', 'TRANSFORM_FAILED', 'ENCODE_FAILED'])
const transformTimeMs = minutes(10)

/**
 * Expects what the relay's own transform gives. That proves something of a transform that depends on nothing but its record;
 * one that asks the clock, chance or a changing service is better verified by ids.
 *
 * A record whose dead letter is in the log is expected there and not transformed: it may be poison, the broker may have
 * refused it. Those that must fail on every try are tried, alone, and counted when they pass.
 * @throws RelayError RECORD_REJECTED_STOP when the relay stops at a record that has been relayed: its code has changed
 */
export function expectTransformed(by: Transforming): Expecting {
  return new TransformExpectation(by)
}

class TransformExpectation implements Expecting {
  notReproduced = 0
  private readonly columns = new ExpectedColumns()
  private readonly by: Transforming
  private readonly rejected: ReadonlyMap<string, RelayError>
  /** By rejectionKey. */
  private readonly retried: ReadonlySet<string>

  constructor(by: Transforming) {
    this.by = by
    const keyOf = ({ topic, partition, offset }: DeadLetterOrigin) => rejectionKey(topic, partition, offset)
    const known = new RelayError('POISON_RECORD', 'its dead letter is in the log')
    this.rejected = new Map(by.deadLetters.map((origin) => [keyOf(origin), known]))
    this.retried = new Set(by.deadLetters.filter(({ errorCode }) => reproducible.has(errorCode)).map(keyOf))
  }

  get expected(): ExpectedRecords {
    return this.columns.records
  }

  async take(ask: SourceAsk, records: readonly KafkaRecord[]): Promise<void> {
    await this.by.running.transform(records, this.sinkFor(ask), this.options(this.rejected))
    if (this.retried.size === 0) return
    for (const record of records) {
      if (this.retried.has(rejectionKey(record.topic, record.partition, record.offset)))
        await this.tryAgain(ask, record)
    }
  }

  private sinkFor(ask: SourceAsk): OutputSink {
    return {
      ...this.nowhere(ask),
      append: (outputs, source) => {
        for (const output of outputs) this.expect(ask, output, source)
      },
    }
  }

  private nowhere({ source }: SourceAsk): OutputSink {
    const counts = this.by.partitionCounts(source)
    return { partitionCount: (topic) => counts.get(topic) ?? 0, append: () => undefined }
  }

  private expect(ask: SourceAsk, output: Output, source: KafkaRecord | undefined): void {
    const { identity, outputs, sinceMs } = this.by
    const { key, value, headers = [], timestampMs } = output.record
    if (sinceMs !== null && timestampMs < sinceMs) return
    const index = outputs.get(tpKey(output)) ?? -1
    const fingerprint = identity.of(output.topic, index, { key, value, headers })
    if (fingerprint) this.columns.push(ask, source?.offset ?? ask.from, index, fingerprint)
  }

  private async tryAgain(ask: SourceAsk, record: KafkaRecord): Promise<void> {
    const counts = await this.by.running.transform([record], this.nowhere(ask), this.options(new Map()))
    if (counts.deadLetters === 0) this.notReproduced++
  }

  private options(rejected: TransformOptions['rejected']): TransformOptions {
    const { clock } = this.by
    return { deadline: deadlineIn(clock, transformTimeMs), attempt: 1, rejected, yieldNow: () => clock.sleep(0) }
  }
}
