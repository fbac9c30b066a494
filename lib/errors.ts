/**
 * One error family. A caller reads `disposition` to learn what to do and `outcome` to learn whether the attempted
 * effect happened; the code names the situation for people, metrics and docs/reference/errors.md (generated from here).
 */

/** What the caller must do next. Add a value only if a caller would act differently. */
export type Disposition =
  | 'retry' // nothing is wrong with the lane: fail this attempt, the next ring goes on from the committed position
  | 'reopen' // the session is spent: barrier, offset read, reconcile, then go on (R3, R5, R6)
  | 'stand-down' // a newer owner holds the lane: end quietly, this is a normal ending
  | 'reject-record' // this record can never pass: dead-letter, stop or skip, as the relay says
  | 'stop-lane' // the promise cannot be kept: record the stop durably, alarm, wait for an operator
  | 'fix-config' // somebody must change a setting, a topic or a permission
  | 'bug' // an invariant broke: abort, never commit

/** Whether the attempted effect happened. `unknown` forbids both retry-as-new and report-as-failed. */
export type Outcome = 'not-applied' | 'applied' | 'unknown'

export const errorCodes = {
  // the lane's position (R8, R9): named stops
  SOURCE_REPLACED: ['stop-lane', 'The source topic or cluster is not the one that was relayed so far.'],
  SOURCE_TRUNCATED: ['stop-lane', 'Records that were not relayed yet have been deleted from the source.'],
  OFFSETS_LOST: [
    'stop-lane',
    'The committed offset is gone and windows may have been committed past the last one remembered.',
  ],
  OFFSET_REGRESSED: ['stop-lane', 'The committed offset is below the one remembered in the fence record.'],
  OFFSET_MOVED: ['stop-lane', 'The committed offset was changed by something other than this relay.'],
  PREFIX_SHARED: ['stop-lane', 'Another deployment uses the same transactional id prefix.'],
  RECORD_REJECTED_STOP: ['stop-lane', 'A record failed and the relay says onError: stop.'],
  // a lane that waits
  SOURCE_BLOCKED: ['retry', 'An open transaction in the source holds back read_committed readers.'],
  LANE_STOPPED: ['stop-lane', 'The lane was stopped earlier and waits for an operator.'],
  LANE_LEASED: ['retry', 'Another live owner holds the lane.'],
  OUT_OF_TIME: ['retry', 'The function has no time left for another window.'],
  RESET_REFUSED: ['fix-config', 'A reset would leave a lane where it cannot go on.'],
  // fencing
  FENCE_SUPERSEDED: ['stand-down', 'A newer owner holds the lane.'],
  GENERATION_SUPERSEDED: ['stand-down', 'A newer deployment owns the lane.'],
  FENCE_STORE_UNAVAILABLE: ['retry', 'The fence table did not answer.'],
  FENCE_STORE_THROTTLED: ['retry', 'The fence table refuses requests because its capacity is exceeded.'],
  FENCE_TABLE_MISSING: ['fix-config', 'The fence table does not exist or may not be used.'],
  FORMAT_TOO_NEW: ['fix-config', 'The fence record was written by a newer version of Fencepost.'],
  FENCE_RECORD_INVALID: [
    'fix-config',
    'A fence record cannot be read: it was changed by something other than Fencepost.',
  ],
  // transactions
  SESSION_FENCED: ['reopen', 'The broker refuses this session: superseded or timed out; the fence record tells which.'],
  SESSION_POISONED: ['reopen', 'The session met an answer that is not a clear yes; it can never commit again.'],
  COMMIT_UNKNOWN: ['reopen', 'The commit was sent and its outcome is not known.'],
  OFFSETS_DISAGREE: [
    'reopen',
    'Two brokers answered different committed offsets; the coordinator must be looked up again.',
  ],
  BARRIER_STUCK: ['retry', 'An earlier transaction of this lane does not finish.'],
  TRANSACTION_TIMEOUT_TOO_LONG: ['fix-config', 'The transaction timeout is above the broker maximum.'],
  TRANSACTIONS_UNSUPPORTED: ['fix-config', 'The broker cannot keep the promise.'],
  // Kafka
  BROKER_UNAVAILABLE: ['retry', 'No broker answered in time.'],
  BROKER_TOO_OLD: ['fix-config', 'The broker does not speak a version of a request that is needed.'],
  AUTHENTICATION_FAILED: ['fix-config', 'The broker refused the credentials.'],
  BROKER_UNTRUSTED: [
    'fix-config',
    "The broker's certificate is not one to trust: expired, of another authority or name.",
  ],
  SECRET_UNREADABLE: ['retry', 'A secret cannot be read.'],
  NOT_AUTHORIZED: ['fix-config', 'The broker refused the operation for this user.'],
  TOPIC_MISSING: ['fix-config', 'A topic does not exist.'],
  TOPIC_INVALID: ['fix-config', 'A topic has a setting that the relay cannot work with.'],
  RECORD_TOO_LARGE: ['reject-record', 'A record is larger than its output topic accepts.'],
  RECORD_INVALID: ['reject-record', 'The broker refuses a record (its timestamp, or its lack of a key).'],
  OFFSET_OUT_OF_RANGE: ['retry', 'A position is outside the log, as the broker that was asked sees it.'],
  CORRUPT_BATCH: ['retry', 'A fetched batch fails its checksum or cannot be parsed.'],
  BATCH_TOO_LARGE: ['stop-lane', 'A fetched batch takes more memory than allowed when it is decompressed.'],
  UNKNOWN_COMPRESSION: ['stop-lane', 'A fetched batch uses a compression that is not known.'],
  BROKER_ERROR: ['retry', 'The broker answered with an error.'],
  // the user's relay
  REGISTRY_UNAVAILABLE: ['retry', 'The schema registry gives no usable answer; the window is tried again.'],
  SCHEMA_UNKNOWN: [
    'retry',
    'The schema registry does not know a schema that a record names; the window is tried again.',
  ],
  SCHEMA_REFUSED: ['fix-config', 'The schema registry does not accept the schema of an output, or has none for it.'],
  DECODE_FAILED: ['reject-record', 'A record cannot be decoded.'],
  VALIDATION_FAILED: ['reject-record', 'A record does not match its schema.'],
  ENCODE_FAILED: ['reject-record', 'An output cannot be encoded.'],
  TRANSFORM_FAILED: ['reject-record', 'The transform threw.'],
  TRANSFORM_TIMED_OUT: ['retry', 'The transform did not finish in time; the window is tried again.'],
  TRANSFORM_RETRY: ['retry', 'The transform asked for the window to be tried again.'],
  EMIT_TOO_LATE: ['stop-lane', 'A transform emitted after it had finished; that output is not in its window.'],
  SETUP_FAILED: ['retry', 'The setup of the relay threw.'],
  POISON_RECORD: ['reject-record', 'A record killed the process repeatedly, alone, in its transform.'],
  PARTITION_INVALID: ['reject-record', 'An output partition does not exist.'],
  // events and configuration
  EVENT_INVALID: ['fix-config', 'The event is not one that this function understands.'],
  CONFIG_INVALID: ['fix-config', 'The configuration is not valid.'],
  LOCAL_STACK: ['fix-config', 'The local stack cannot start.'],
  INVARIANT_BROKEN: ['bug', 'Something that must never happen happened.'],
} as const satisfies Record<string, readonly [Disposition, string]>

export type ErrorCode = keyof typeof errorCodes

export interface ErrorDetails {
  /** Default 'not-applied': say otherwise wherever an effect may have happened. */
  readonly outcome?: Outcome
  readonly disposition?: Disposition
  /** Facts for logs and `--json`: names and numbers, never record contents or secrets. */
  readonly context?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** `message` names the value found, the bound wanted and the fix. */
export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly code: ErrorCode
  readonly disposition: Disposition
  readonly outcome: Outcome
  readonly context: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const named = message.startsWith(`${code}: `) ? message : `${code}: ${message}` // it may quote an error of its kind
    super(named, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.disposition = details.disposition ?? errorCodes[code][0]
    this.outcome = details.outcome ?? 'not-applied'
    this.context = details.context ?? {}
  }
}

export const isRelayError = (error: unknown): error is RelayError => error instanceof RelayError

/** Any thrown value as one line, for messages that quote a cause. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
