import type { KafkaRecord } from '../kafka/record.ts'
import { deadLetterHeaders } from '../relay/transform/dead-letter.ts'
import { type Content, Fingerprint } from './fingerprint.ts'

/** By what an output is told from any other: null for records that are none of this relay's. */
export interface Identity {
  /** Of an output as the transform gives it or as the log has it; `output` is the index of its partition. */
  of(topic: string, output: number, record: Content): Fingerprint | null
}

/** Where a dead letter comes from, as its headers say. */
export interface DeadLetterOrigin {
  readonly relay: string
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
  readonly errorCode: string
}

/** Null when the headers are not those of a dead letter. */
export function deadLetterOrigin({ headers }: Pick<Content, 'headers'>): DeadLetterOrigin | null {
  // The last one of a name: an original record may have been a dead letter itself, and its headers come first.
  const text = (key: string): string => headers.findLast((header) => header.key === key)?.value?.toString('utf8') ?? ''
  const [partition, offset] = [text(deadLetterHeaders.partition), text(deadLetterHeaders.offset)]
  if (!/^\d+$/.test(partition) || !/^\d+$/.test(offset)) return null
  return {
    relay: text(deadLetterHeaders.relay),
    topic: text(deadLetterHeaders.topic),
    partition: Number(partition),
    offset: BigInt(offset),
    errorCode: text(deadLetterHeaders.errorCode),
  }
}

/**
 * Outputs are what they contain, at the partition where they belong. A dead letter is the source record that it names: its
 * message and attempt depend on the day, and a large one is cut.
 */
export function contentIdentity(relay: string, deadLetters: string | null): Identity {
  const fingerprint = new Fingerprint()
  return {
    of(topic, output, record) {
      if (topic !== deadLetters) return fingerprint.of(output + 1, record)
      const origin = deadLetterOrigin(record)
      if (origin?.relay !== relay) return null
      return fingerprint.ofText(output + 1, `${origin.topic}/${origin.partition}/${origin.offset}`)
    },
  }
}

export type IdSource =
  | { readonly kind: 'header'; readonly name: string }
  /** RFC 6901, into a JSON value. */
  | { readonly kind: 'pointer'; readonly path: readonly string[] }

/** Records are their ids, wherever they went; one without an id is its value. */
export function idIdentity(from: IdSource): Identity {
  const fingerprint = new Fingerprint()
  return {
    of(_topic, _output, record) {
      const id = idOf(from, record)
      return id === null
        ? fingerprint.of(0, { key: null, value: record.value, headers: [] })
        : fingerprint.ofText(0, id)
    },
  }
}

export function idOf(from: IdSource, { value, headers }: Pick<Content, 'value' | 'headers'>): string | null {
  if (from.kind === 'header') return headers.find(({ key }) => key === from.name)?.value?.toString('latin1') ?? null
  try {
    let found: unknown = JSON.parse(value?.toString('utf8') ?? 'null')
    for (const step of from.path) found = (found as Record<string, unknown>)[step]
    return found === undefined || found === null ? null : JSON.stringify(found)
  } catch {
    return null // no JSON, or nothing there
  }
}

/** A source record as the id of what comes out of it. */
export const idOfSource = (identity: Identity, record: KafkaRecord): Fingerprint | null =>
  identity.of(record.topic, -1, record)
