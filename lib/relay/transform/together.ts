import type { RelayError } from '../../errors.ts'
import type { KafkaRecord } from '../../kafka/record.ts'
import type { EmitOptions } from '../definition/emit.ts'
import { type AttemptLimits, callWithAttempts, type StartCall } from './attempts.ts'
import { bindEmit, type Emission, type TransformCall } from './call.ts'
import { knownRejection, type TransformWindow, type UserFunction } from './plan.ts'
import { rejectionOf } from './results.ts'
import { decodeRecord, SourceRecord } from './source-record.ts'

/**
 * All records of the window in one call. Records that cannot be decoded never reach it. Outputs go in source order, those
 * of one record in the order of their emits; one that cannot be written keeps the others of its record out.
 */
export async function transformTogether(
  window: TransformWindow,
  transformWindow: UserFunction,
  limits: AttemptLimits,
): Promise<void> {
  const { records, results, time } = window
  const rejections: Rejections = new Map()
  const decoded = await decodeAll(window, rejections)
  time.startTimer()
  const emissions = Map.groupBy(
    await emitAll(window, transformWindow, limits, decoded, rejections),
    (emission) => emission.source,
  )
  for (const source of records) {
    results.settle(source, rejections.get(source) ?? { emissions: emissions.get(source) ?? [] })
    if (time.isTimeToGiveWay()) await time.giveWay()
  }
}

type Rejections = Map<KafkaRecord, RelayError>

async function decodeAll(window: TransformWindow, rejections: Rejections): Promise<SourceRecord[]> {
  const { records, time, plan } = window
  const decoded: SourceRecord[] = []
  for (const source of records) {
    try {
      const rejection = knownRejection(window, source)
      if (rejection) rejections.set(source, rejection)
      else decoded.push(decodeRecord(source, plan.source))
    } catch (error) {
      rejections.set(source, rejectionOf(error, source))
    }
    if (time.isTimeToGiveWay()) await time.giveWay()
  }
  return decoded
}

/** A call that throws is made again with each half of its records, until the one at fault stands alone. */
async function emitAll(
  window: TransformWindow,
  transformWindow: UserFunction,
  limits: AttemptLimits,
  records: readonly SourceRecord[],
  rejections: Rejections,
): Promise<readonly Emission[]> {
  const [first] = records
  if (!first) return []
  try {
    const start: StartCall = (call, signal) => transformWindow(records, contextOfAll(window, records, call, signal))
    return (await callWithAttempts(start, limits, window)).emissions
  } catch (error) {
    const rejection = rejectionOf(error, first.source)
    if (records.length === 1) {
      rejections.set(first.source, rejection)
      return []
    }
  }
  const middle = records.length >> 1
  const before = await emitAll(window, transformWindow, limits, records.slice(0, middle), rejections)
  const after = await emitAll(window, transformWindow, limits, records.slice(middle), rejections)
  return [...before, ...after]
}

function contextOfAll(
  { plan, setup }: TransformWindow,
  records: readonly SourceRecord[],
  call: TransformCall,
  signal: AbortSignal,
): object {
  const known = new Set<unknown>(records)
  const sourceOf = ({ from }: EmitOptions & { readonly from?: unknown }): KafkaRecord => {
    if (from instanceof SourceRecord && known.has(from)) return from.source
    throw new TypeError('emit in transformWindow needs { from: record }, a record of this call')
  }
  return { ...setup, emit: bindEmit(plan.outputs, call, sourceOf), signal }
}
