import { type ErrorTrait, kafkaErrorCodes } from './error-codes.ts'

/** What a broker's answer means for the request that it answers. Closed: a caller acts differently on each. */
export type Verdict =
  | 'ok'
  | 'resend' // the identical bytes again within the deadline, to the new leader or coordinator when `relocate`
  | 'wait' // the same request again after a short pause: something is still being finished or loaded
  | 'fenced' // superseded or timed out: send nothing more in this session, not even an abort (R2, P4)
  | 'refused' // a definite refusal of a record: too large, or not valid for its topic
  | 'missing' // no such topic, partition or topic id
  | 'range' // a fetch position outside the log, as this broker sees it: only ListOffsets decides (R8, P1)
  | 'denied' // credentials or permissions
  | 'config' // a setting that can never pass
  | 'poison' // everything else: not a clear yes, so no commit can follow (R2); for EndTxn: outcome unknown (R3)

export interface Classification {
  readonly verdict: Verdict
  /** Look the leader or coordinator up again before the next try. */
  readonly relocate: boolean
}

export const operations = [
  'InitProducerId',
  'FindCoordinator',
  'Metadata',
  'ListOffsets',
  'OffsetFetch',
  'Fetch',
  'AddPartitionsToTxn',
  'AddOffsetsToTxn',
  'Produce',
  'TxnOffsetCommit',
  'EndTxn',
] as const
export type Operation = (typeof operations)[number]

const names: ReadonlyMap<number, string> = new Map(kafkaErrorCodes.map(([code, name]) => [code, name]))

/** `NOT_COORDINATOR (16)`; codes that Kafka 4.1 does not have are `UNKNOWN (n)`. */
export const kafkaErrorName = (code: number): string => `${names.get(code) ?? 'UNKNOWN'} (${code})`

/**
 * Total over every operation and every number: what is not listed is 'poison'.
 *
 * Kafka's own sorting of its codes is the base; the exceptions below are rules R2 and R3 of the commit protocol.
 */
export function classify(operation: Operation, code: number): Classification {
  return exceptions[operation].get(code) ?? ordinary.get(code) ?? poison
}

const verdict = (name: Verdict): Classification => ({ verdict: name, relocate: false })
const poison = verdict('poison')
const fenced = verdict('fenced')
const refused = verdict('refused')
const wait = verdict('wait')
const resend = verdict('resend')
const elsewhere: Classification = { verdict: 'resend', relocate: true }

const ordinary: ReadonlyMap<number, Classification> = new Map([
  ...kafkaErrorCodes.map(([code, , ...traits]) => [code, ordinaryVerdict(traits)] as const),
  [0, verdict('ok')],
  [3, { verdict: 'missing', relocate: true }], // UNKNOWN_TOPIC_OR_PARTITION
  [100, { verdict: 'missing', relocate: true }], // UNKNOWN_TOPIC_ID
  [14, wait], // COORDINATOR_LOAD_IN_PROGRESS
  [51, wait], // CONCURRENT_TRANSACTIONS
  [78, wait], // OFFSET_NOT_AVAILABLE: a new leader until its high watermark has caught up
  [88, wait], // UNSTABLE_OFFSET_COMMIT
  [89, wait], // THROTTLING_QUOTA_EXCEEDED
  [17, verdict('config')], // INVALID_TOPIC_EXCEPTION
  [24, verdict('config')], // INVALID_GROUP_ID
  [50, verdict('config')], // INVALID_TRANSACTION_TIMEOUT
])

function ordinaryVerdict(traits: readonly ErrorTrait[]): Classification {
  if (traits.includes('access')) return verdict('denied')
  if (!traits.includes('retriable')) return poison
  return traits.includes('relocate') ? elsewhere : resend
}

/** INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED. */
const fencedCodes = [47, 49, 90] as const
/** The same and INVALID_TXN_STATE: where a request belongs to a transaction, it has ended without us. */
const inTransaction = [...fencedCodes, 48].map((code) => [code, fenced] as const)

const exceptions: Readonly<Record<Operation, ReadonlyMap<number, Classification>>> = {
  InitProducerId: new Map(fencedCodes.map((code) => [code, fenced])),
  FindCoordinator: new Map([[15, wait]]), // the internal topic is being made
  Metadata: new Map(),
  ListOffsets: new Map(),
  OffsetFetch: new Map(),
  Fetch: new Map([[1, verdict('range')]]),
  // 55: another partition of the request failed and nothing was added; that one's code decides.
  AddPartitionsToTxn: new Map([...inTransaction, [55, resend]]),
  AddOffsetsToTxn: new Map(inTransaction),
  // MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE (above the segment size), INVALID_TIMESTAMP, INVALID_RECORD
  Produce: new Map([...inTransaction, [10, refused], [18, refused], [32, refused], [87, refused]]),
  TxnOffsetCommit: new Map(inTransaction),
  // R3: 51, 14, 15 and 16 are sent again; apart from being fenced, everything else leaves the outcome unknown.
  EndTxn: onlyThese([...inTransaction, [0, verdict('ok')], [51, wait], [14, wait], [15, elsewhere], [16, elsewhere]]),
}

function onlyThese(listed: readonly (readonly [number, Classification])[]): ReadonlyMap<number, Classification> {
  return new Map([...kafkaErrorCodes.map(([code]) => [code, poison] as const), ...listed])
}
