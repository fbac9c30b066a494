import type { KafkaRecord } from '../../kafka/record.ts'
import { isPromiseLike } from '../../promise-like.ts'
import { TransformCall } from './call.ts'
import { contextOf, knownRejection, type TransformWindow, type UserFunction } from './plan.ts'
import { rejectionOf, type TransformOutcome } from './results.ts'
import { decodeRecord } from './source-record.ts'

/** One record after the other. A synchronous transform costs no promise: this is the fast path. */
export async function transformInOrder(window: TransformWindow, transform: UserFunction): Promise<void> {
  const { records, results, time } = window
  for (const source of records) {
    const outcome = knownRejection(window, source) ?? callTransform(window, transform, source)
    results.settle(source, outcome instanceof Promise ? await outcome : outcome)
    if (time.isTimeToGiveWay()) await time.giveWay()
  }
}

function callTransform(
  window: TransformWindow,
  transform: UserFunction,
  source: KafkaRecord,
): TransformOutcome | Promise<TransformOutcome> {
  const call = new TransformCall(window.onLateEmit)
  try {
    const record = decodeRecord(source, window.plan.source)
    const work = transform(record, contextOf(window, source, call, window.time.signal))
    return isPromiseLike(work) ? finishLater(window, source, call, work) : call.finish()
  } catch (error) {
    call.giveUp()
    return rejectionOf(error, source)
  }
}

async function finishLater(
  window: TransformWindow,
  source: KafkaRecord,
  call: TransformCall,
  work: PromiseLike<unknown>,
): Promise<TransformOutcome> {
  try {
    await window.time.wait(work)
    return call.finish()
  } catch (error) {
    call.giveUp()
    return rejectionOf(error, source)
  }
}
