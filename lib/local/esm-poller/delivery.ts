import type { Clock } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { Batcher, Part } from './batcher.ts'
import type { Chaos } from './chaos.ts'
import { eventOf, groupKey } from './event-encoding.ts'
import { judgeAnswer } from './judge-answer.ts'
import type { PartitionQueue } from './partition-queue.ts'
import type { PartitionSource } from './partition-source.ts'
import type { DeliveredRange, DeliveryReason, MutableStats } from './poller-event.ts'
import type { PollerSettings } from './poller-options.ts'

export interface DeliveryParts {
  readonly poller: number
  readonly source: PartitionSource
  readonly batcher: Batcher
  readonly settings: PollerSettings
  readonly chaos: Chaos
  readonly clock: Clock
  readonly stats: MutableStats
}

/**
 * The delivering half of one poller: one invocation at a time, the whole batch again until it succeeds, and only then a
 * commit. At least once, in order per partition, nothing more.
 */
export class Delivery {
  readonly #its: DeliveryParts
  readonly #bootstrapServers: string
  /** Invocations that nobody listens to any more. */
  readonly #unheard = new Set<Promise<unknown>>()
  readonly #abandoned = Promise.withResolvers<null>()
  #failures = 0
  /** The records that come next are on their way already, unheard. */
  #followsOverlap = false

  constructor(parts: DeliveryParts) {
    this.#its = parts
    this.#bootstrapServers = parts.settings.brokers.join(',')
  }

  /** Until aborted: the running invocation is waited for, and committed if it succeeds. */
  async run(signal: AbortSignal): Promise<void> {
    const { batcher, source } = this.#its
    const idle = () =>
      this.#commit(
        source.queues().filter(({ entries }) => entries.length === 0),
        signal,
      )
    for (let batch = await batcher.next(signal, idle); batch !== null; batch = await batcher.next(signal, idle)) {
      await this.#deliver(batch, signal)
    }
    await Promise.race([Promise.all(this.#unheard), this.#abandoned.promise])
  }

  /** Stops waiting for running invocations; they go on unheard. */
  abandon(): void {
    this.#abandoned.resolve(null)
  }

  async #deliver(batch: readonly Part[], signal: AbortSignal): Promise<void> {
    const fault = this.#its.chaos.fault()
    if (fault === 'overlap' && !this.#followsOverlap) return this.#deliverUnheard(batch)
    this.#followsOverlap = false
    const twin = fault === 'duplicate-beside' ? this.#duplicate(batch, fault) : null
    await this.#deliverUntilDone(batch, signal)
    if (fault === 'duplicate') await this.#heard(this.#duplicate(batch, fault))
    if (twin) await this.#heard(twin)
  }

  /** Ends when the batch is done, has been put back in part, or belongs to others. */
  async #deliverUntilDone(batch: readonly Part[], signal: AbortSignal): Promise<void> {
    const { settings, source } = this.#its
    for (let reason: DeliveryReason = 'new'; ; reason = 'again') {
      const owned = batch.filter(({ queue }) => queue.owned)
      if (owned.length === 0) return
      const result = await this.#heard(this.#invoke(owned, reason))
      if (result === null) return
      const groups = owned.map(({ entries }) => entries)
      const verdict = judgeAnswer(result, groups, settings.reportBatchItemFailures)
      this.#count(verdict.kind, owned)
      if (verdict.kind === 'done' || verdict.kind === 'partly') {
        if (verdict.kind === 'partly') putBack(owned, verdict.firstFailed)
        await this.#commit(
          owned.map(({ queue }) => queue),
          signal,
        )
        if (verdict.kind === 'partly') await this.#backOff('batchItemFailures', signal)
        source.changed.notify()
        return
      }
      await this.#backOff(verdict.cause, signal)
      if (signal.aborted) return
    }
  }

  /** Overlap: the invocation runs on, and its records are delivered again by the next ones, in other batches. */
  #deliverUnheard(batch: readonly Part[]): void {
    this.#its.stats.overlaps++
    this.#followsOverlap = true
    const invocation = this.#invoke(batch, 'overlap')
    this.#unheard.add(invocation)
    invocation.finally(() => this.#unheard.delete(invocation))
    for (const { queue, entries } of batch) queue.putBack(entries)
    this.#its.batcher.cutNextAnew()
  }

  #duplicate(batch: readonly Part[], reason: DeliveryReason): Promise<InvokeResult> {
    this.#its.stats.duplicates++
    return this.#invoke(batch, reason)
  }

  /** null: abandoned. */
  #heard(invocation: Promise<InvokeResult>): Promise<InvokeResult | null> {
    return Promise.race([this.#abandoned.promise, invocation])
  }

  async #invoke(parts: readonly Part[], reason: DeliveryReason): Promise<InvokeResult> {
    const { poller, settings, stats } = this.#its
    const ranges = parts.map(rangeOf)
    const groups = parts.map(({ entries }) => entries)
    const event = eventOf(this.#bootstrapServers, groups)
    stats.invocations++
    settings.onEvent({ kind: 'invoking', poller, reason, ranges })
    const result = await settings.function(event).catch(callFailed)
    settings.onEvent({ kind: 'answered', poller, reason, ranges, result })
    return result
  }

  #count(verdict: 'done' | 'partly' | 'again' | 'throttled', parts: readonly Part[]): void {
    const { stats } = this.#its
    if (verdict === 'done') {
      this.#failures = 0
      stats.succeeded++
      stats.recordsDelivered += parts.reduce((sum, { entries }) => sum + entries.length, 0)
    } else {
      stats.redelivered++
      stats[verdict === 'throttled' ? 'throttled' : 'failed']++
    }
  }

  #commit(queues: readonly PartitionQueue[], signal: AbortSignal): Promise<void> {
    return this.#its.source.commit(new Map(queues.map((queue) => [queue, queue.doneUntil])), signal)
  }

  async #backOff(cause: string, signal: AbortSignal): Promise<void> {
    const { settings, chaos, clock, poller } = this.#its
    const { minMs, maxMs } = settings.backOff
    const backOffMs = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures++, 20)) * chaos.jitter()
    settings.onEvent({ kind: 'will-redeliver', poller, cause, backOffMs })
    await clock.sleep(backOffMs, signal).catch(() => undefined)
  }
}

function putBack(parts: readonly Part[], firstFailed: ReadonlyMap<string, number>): void {
  for (const { queue, entries } of parts) {
    const from = firstFailed.get(entries[0] ? groupKey(entries[0].record) : '')
    if (from !== undefined) queue.putBack(entries.filter(({ record }) => record.offset >= from))
  }
}

function rangeOf({ queue, entries }: Part): DeliveredRange {
  const firstOffset = entries[0]?.record.offset ?? 0
  const lastOffset = entries.at(-1)?.record.offset ?? 0
  return { partition: queue.partition, firstOffset, lastOffset, records: entries.length }
}

/** The call itself failed: nothing is known of the function, so the batch comes again. */
function callFailed(error: unknown): InvokeResult {
  const payload = { errorType: 'Invoke.Failed', errorMessage: messageOf(error), trace: [] }
  const report = { durationMs: 0, billedDurationMs: 0, initDurationMs: null, maxMemoryUsedBytes: 0, cold: false }
  const nowhere = { requestId: '', containerId: '', logTail: '' }
  return { status: 'error', statusCode: 200, functionError: 'Unhandled', payload, ...report, ...nowhere }
}
