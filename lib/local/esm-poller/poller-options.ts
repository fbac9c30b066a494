import type { Clock } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { KafkaConnectionConfig } from '../../kafka/connection-config.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { ChaosOptions } from './chaos.ts'
import type { PollerEvent } from './poller-event.ts'

export type StartingPosition = 'TRIM_HORIZON' | 'LATEST' | { readonly atTimestampMs: number }

export interface PollerOptions {
  readonly brokers: readonly string[]
  readonly connection?: Pick<KafkaConnectionConfig, 'tls' | 'sasl'>
  readonly topic: string
  /** The mapping's own consumer group. Its offsets say what was delivered, never what was relayed. */
  readonly group: string
  readonly function: (event: unknown) => Promise<InvokeResult>
  /** Records in one event, 1 to 10,000. Default 100. */
  readonly batchSize?: number
  /** How long a batch may wait for more records, 0 to 300,000 ms. Default 500. */
  readonly batchingWindowMs?: number
  /** Where a partition begins that the group has no offset for. Default TRIM_HORIZON. */
  readonly startingPosition?: StartingPosition
  /** Default false: the answer is not looked at, any success is success of the whole batch. */
  readonly reportBatchItemFailures?: boolean
  /** Members of the group; each has one invocation at a time. Default 1. */
  readonly pollers?: number
  /** How tombstones are sent, because both have been seen on the wire. Default 'alternate'. */
  readonly tombstones?: 'null' | 'absent' | 'alternate'
  /** Waits between deliveries of a batch that fails: doubled each time, with jitter. Default 200 to 10,000 ms. */
  readonly backOff?: { readonly minMs: number; readonly maxMs: number }
  readonly chaos?: ChaosOptions
  readonly onEvent?: (event: PollerEvent) => void
  /** Without an answer for so long, a member is taken for dead by the broker. Default 10,000. */
  readonly sessionTimeoutMs?: number
  readonly clock?: Clock
}

export type PollerSettings = Required<Omit<PollerOptions, 'chaos' | 'connection' | 'clock'>>

/** @throws RelayError CONFIG_INVALID: Lambda's own bounds. */
export function pollerSettings(options: PollerOptions): PollerSettings {
  const pollers = within('pollers', options.pollers ?? 1, 1, 2_000)
  return {
    brokers: options.brokers,
    topic: options.topic,
    group: options.group,
    function: options.function,
    batchSize: within('batchSize', options.batchSize ?? 100, 1, 10_000),
    batchingWindowMs: within('batchingWindowMs', options.batchingWindowMs ?? 500, 0, 300_000),
    startingPosition: options.startingPosition ?? 'TRIM_HORIZON',
    reportBatchItemFailures: options.reportBatchItemFailures ?? false,
    pollers,
    tombstones: options.tombstones ?? 'alternate',
    backOff: options.backOff ?? { minMs: 200, maxMs: 10_000 },
    onEvent: options.onEvent ?? (() => undefined),
    sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000,
  }
}

function within(field: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new RelayError('CONFIG_INVALID', `${field} of the event source mapping is ${value}; wanted ${min} to ${max}.`)
}
