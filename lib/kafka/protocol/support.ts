/** What the generated codecs share beside reader and writer. */
import type { TaggedField, Writer } from './writer.ts'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * A field that a version lacks may only have its default: dropping a value in silence would change what is asked.
 * As Kafka's own codecs do (UnsupportedVersionException).
 */
export function refuseField(field: string, value: unknown, defaultValue: unknown, version: number): void {
  if (value === undefined || value === defaultValue) return
  if (Array.isArray(value) && value.length === 0 && Array.isArray(defaultValue)) return
  throw new TypeError(`${field} is not known in version ${version} of the API: leave it out or ask a newer broker`)
}

/** A tagged field to write; undefined when there is no value. */
export function tagged<T>(
  tag: number,
  value: T | undefined,
  write: (value: T, writer: Writer) => void,
): TaggedField | undefined {
  return value === undefined ? undefined : [tag, (writer) => write(value, writer)]
}
