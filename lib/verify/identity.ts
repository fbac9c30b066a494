import { parseDeadLetter } from '../relay/transform/dead-letter.ts'
import { type Content, Fingerprint } from './fingerprint.ts'

/** By what an output is told from any other. */
export interface Identity {
  /**
   * Of an output as the transform gives it or as the log has it; `output` is the index of its partition. The object is used
   * again at the next call. Null for records that say themselves that another relay wrote them.
   */
  of(topic: string, output: number, record: Content): Fingerprint | null
}

/**
 * Outputs are what they contain, at the partition where they belong. A dead letter is the source record that it names: its
 * message and attempt depend on the day, and a large one is cut.
 */
export function contentIdentity(relay: string, deadLetters: string | null): Identity {
  const fingerprint = new Fingerprint()
  return {
    of(topic, output, record) {
      const letter = topic === deadLetters ? parseDeadLetter(record.headers) : null
      if (letter === null) return fingerprint.of(output + 1, record)
      if (letter.relay !== relay) return null
      return fingerprint.ofText(output + 1, `${letter.topic}/${letter.partition}/${letter.offset}`)
    },
  }
}

/** Where a record carries an id of its own. */
export type IdPlace =
  | { readonly in: 'header'; readonly name: string }
  /** Unescaped steps of a JSON pointer (RFC 6901) into the value. */
  | { readonly in: 'value'; readonly path: readonly string[] }

/**
 * Records are their ids, wherever they went; one without an id, such as a malformed one on its way to the dead letters, is
 * its value.
 */
export function idIdentity(place: IdPlace): Identity {
  const fingerprint = new Fingerprint()
  return {
    of(_topic, _output, record) {
      const id = idOf(place, record)
      return id === null
        ? fingerprint.of(0, { key: null, value: record.value, headers: [] })
        : fingerprint.ofText(0, id)
    },
  }
}

/** Null when there is none, or it is null. */
export function idOf(place: IdPlace, { value, headers }: Pick<Content, 'value' | 'headers'>): string | null {
  if (place.in === 'header') {
    return headers.find(({ key }) => key === place.name)?.value?.toString('latin1') ?? null
  }
  try {
    const text = value?.toString('utf8') ?? 'null'
    const found = stepInto(JSON.parse(text, mayBeInexact.test(text) ? exactly : undefined), place.path)
    return found === undefined || found === null ? null : asText(found)
  } catch {
    return null // no JSON
  }
}

const mayBeInexact = /\d{16}/

/** Integers beyond 2^53, such as Snowflake ids, keep all their digits: neighbours would be one number otherwise. */
function exactly(...[, value, context]: unknown[]): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = Reflect.get(Object(context), 'source')
  return typeof source === 'string' && /^-?\d+$/.test(source) ? BigInt(source) : value
}

const asText = (id: unknown): string =>
  typeof id === 'bigint'
    ? String(id)
    : JSON.stringify(id, (_, part) => (typeof part === 'bigint' ? String(part) : part))

function stepInto(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return null
    found = Reflect.get(found, step)
  }
  return found
}
