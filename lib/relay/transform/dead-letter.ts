import type { RelayError } from '../../errors.ts'
import type { Header, KafkaRecord, OutputRecord } from '../../kafka/record.ts'

/** What a dead letter's headers say beside the original ones. Read by `fencepost redrive`: part of the format. */
export const deadLetterHeaders = {
  relay: 'fencepost.relay',
  topic: 'fencepost.source.topic',
  partition: 'fencepost.source.partition',
  offset: 'fencepost.source.offset',
  timestamp: 'fencepost.source.timestamp',
  errorCode: 'fencepost.error.code',
  errorMessage: 'fencepost.error.message',
  attempt: 'fencepost.attempt',
  truncated: 'fencepost.truncated',
} as const

const MESSAGE_CHARACTERS_MAX = 500
const VALUE_CUT_BYTES = 16 * 1_024
const BYTES_LEFT_AT_LAST = 512

export interface Rejection {
  readonly relay: string
  readonly source: KafkaRecord
  readonly error: RelayError
  readonly attempt: number
}

/**
 * The dead letter of a record, largest form first: as it was, then without most of its value, then with hardly more than
 * the reason. The first form that its topic accepts is written, so that a rejected record never holds up its lane.
 */
export function deadLetterForms(rejection: Rejection): readonly Omit<OutputRecord, 'timestampMs'>[] {
  const { source } = rejection
  const reason = reasonHeaders(rejection)
  const { key } = source
  return [
    { key, value: source.value, headers: [...source.headers, ...reason] },
    {
      key,
      value: cut(source.value, VALUE_CUT_BYTES),
      headers: [...source.headers, ...reason, note(`value cut from ${size(source.value)} to ${VALUE_CUT_BYTES} bytes`)],
    },
    {
      key: cut(key, BYTES_LEFT_AT_LAST),
      value: cut(source.value, BYTES_LEFT_AT_LAST),
      headers: [
        ...reason,
        note(
          `key of ${size(key)} and value of ${size(source.value)} bytes cut to ${BYTES_LEFT_AT_LAST}, ` +
            `${source.headers.length} headers left out`,
        ),
      ],
    },
  ]
}

/** A dead letter's own part, told apart from what belongs to the record. */
export interface DeadLetter {
  readonly relay: string
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
  /** Of the source record; -1 where it had none. */
  readonly timestampMs: number
  readonly errorCode: string
  /** Key, value or headers are not all there. */
  readonly isCut: boolean
  /** The headers that the record had in the source. */
  readonly headers: readonly Header[]
}

/**
 * Null when the headers are not those of a dead letter. The record may have been one before, of this relay or of another:
 * only the last block of our headers is ours, what comes before it is the record's.
 */
export function parseDeadLetter(headers: readonly Header[]): DeadLetter | null {
  const begin = headers.findLastIndex(({ key }) => key === deadLetterHeaders.relay)
  if (begin === -1) return null
  const own = new Map(headers.slice(begin).map(({ key, value }) => [key, value?.toString('utf8') ?? '']))
  const text = (key: string): string => own.get(key) ?? ''
  const [partition, offset] = [text(deadLetterHeaders.partition), text(deadLetterHeaders.offset)]
  if (!/^\d+$/.test(partition) || !/^\d+$/.test(offset)) return null
  return {
    relay: text(deadLetterHeaders.relay),
    topic: text(deadLetterHeaders.topic),
    partition: Number(partition),
    offset: BigInt(offset),
    timestampMs: Number(own.get(deadLetterHeaders.timestamp) ?? -1),
    errorCode: text(deadLetterHeaders.errorCode),
    isCut: own.has(deadLetterHeaders.truncated),
    headers: headers.slice(0, begin),
  }
}

function reasonHeaders({ relay, source, error, attempt }: Rejection): Header[] {
  return [
    header(deadLetterHeaders.relay, relay),
    header(deadLetterHeaders.topic, source.topic),
    header(deadLetterHeaders.partition, source.partition),
    header(deadLetterHeaders.offset, source.offset),
    header(deadLetterHeaders.timestamp, source.timestampMs),
    header(deadLetterHeaders.errorCode, error.code),
    header(deadLetterHeaders.errorMessage, error.message.slice(0, MESSAGE_CHARACTERS_MAX)),
    header(deadLetterHeaders.attempt, attempt),
  ]
}

const header = (key: string, value: string | number | bigint): Header => ({ key, value: Buffer.from(String(value)) })
const note = (text: string): Header => header(deadLetterHeaders.truncated, text)
const size = (bytes: Buffer | null): number => bytes?.length ?? 0
const cut = (bytes: Buffer | null, bytesMax: number): Buffer | null => bytes?.subarray(0, bytesMax) ?? null
