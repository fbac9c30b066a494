import { RelayError } from '../errors.ts'
import {
  type FenceIntent,
  type FenceOwner,
  type FenceRecord,
  type FenceStop,
  formatVersion,
  type SnapshotPointer,
  type Withdrawal,
} from './fence-record.ts'

/** A DynamoDB attribute as it is written: `N` is a decimal string and holds every int64 exactly. */
export type Attribute =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly M: Record<string, Attribute> }
export type Item = Record<string, Attribute>

/** The same as it is read: other types may stand where ours are expected, and are refused by name. */
interface StoredAttribute {
  readonly S?: string
  readonly N?: string
  readonly BOOL?: boolean
  readonly NULL?: boolean
  readonly M?: StoredItem
}
export type StoredItem = { readonly [name: string]: StoredAttribute }

/** How one field stands in the item. `decode` gets undefined when the attribute is absent. */
interface Field<T> {
  encode(value: T): Attribute
  decode(stored: StoredAttribute | undefined, name: string): T
}
type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> }

const text: Field<string> = {
  encode: (value) => ({ S: value }),
  decode: (stored, name) => stored?.S ?? refuse(name, 'a string', stored),
}
const int64: Field<bigint> = {
  encode: (value) => ({ N: value.toString() }),
  decode: (stored, name) =>
    /^-?\d+$/.test(stored?.N ?? '') ? BigInt(stored?.N ?? '') : refuse(name, 'an integer', stored),
}
const integer: Field<number> = {
  encode: (value) => ({ N: String(value) }),
  decode: (stored, name) => {
    const value = Number(int64.decode(stored, name))
    return Number.isSafeInteger(value) ? value : refuse(name, 'an integer below 2^53', stored)
  },
}
const flag: Field<boolean> = {
  encode: (value) => ({ BOOL: value }),
  decode: (stored, name) => stored?.BOOL ?? refuse(name, 'a boolean', stored),
}

function oneOf<T extends string>(...values: readonly T[]): Field<T> {
  return {
    encode: text.encode,
    decode: (stored, name) => values.find((value) => value === stored?.S) ?? refuse(name, values.join(' or '), stored),
  }
}

/** Absent reads as null: a field that a later version adds to format 1 must be of this kind. */
function nullable<T>(field: Field<T>): Field<T | null> {
  return {
    encode: (value) => (value === null ? { NULL: true } : field.encode(value)),
    decode: (stored, name) => (stored === undefined || stored.NULL ? null : field.decode(stored, name)),
  }
}

function mapOf<K extends string | number, T>(keyOf: (name: string) => K, field: Field<T>): Field<ReadonlyMap<K, T>> {
  return {
    encode: (map) => ({ M: Object.fromEntries([...map].map(([key, value]) => [String(key), field.encode(value)])) }),
    decode: (stored, name) => {
      const entries = Object.entries(stored?.M ?? refuse(name, 'a map', stored))
      return new Map(entries.map(([key, value]) => [keyOf(key), field.decode(value, `${name}.${key}`)]))
    },
  }
}

function shape<T extends object>(fields: Fields<T>): Field<T> {
  return {
    encode: (value) => ({ M: encodeFields(fields, value) }),
    decode: (stored, name) => decodeFields(fields, stored?.M ?? refuse(name, 'a map', stored), `${name}.`),
  }
}

const offsets = mapOf(Number, int64)
const owner = shape<FenceOwner>({ nonce: text, container: text, requestId: text })
const intent = shape<FenceIntent>({
  partition: integer,
  from: int64,
  recordsMax: integer,
  stage: oneOf('read', 'transform', 'commit'),
  deathsAlone: integer,
  startedAtMs: integer,
})
const snapshot = shape<SnapshotPointer>({
  key: text,
  sha256: text,
  position: offsets,
  changelogPosition: int64,
  changelogTopicId: text,
  atMs: integer,
})
const withdrawal = shape<Withdrawal>({ above: integer, upTo: integer, atMs: integer })
const stopped = shape<FenceStop>({ code: text, message: text, atMs: integer })

/** Format 1. Attribute names are the field names: an operator reads the table in the console. */
const fenceFields: Fields<Omit<FenceRecord, 'formatVersion'>> = {
  id: text,
  revision: integer,
  lineage: text,
  token: integer,
  owner: nullable(owner),
  lastNonce: nullable(text),
  leaseUntilMs: integer,
  dirty: flag,
  working: flag,
  attempts: integer,
  resetTo: nullable(offsets),
  intent: nullable(intent),
  committedUntil: offsets,
  committedAtMs: nullable(integer),
  sourceTopicId: nullable(text),
  clusterId: nullable(text),
  outputPartitions: mapOf(String, integer),
  producerId: nullable(int64),
  producerEpoch: nullable(integer),
  snapshot: nullable(snapshot),
  stopped: nullable(stopped),
  wakeAtMs: nullable(integer),
  generation: integer,
  generationAtMs: integer,
  withdrawn: nullable(withdrawal),
  withdrawnBefore: nullable(mapOf(Number, integer)),
}

/** Some or all fields of a record as attributes. */
export function encodeFence(fields: Partial<FenceRecord>): Item {
  const { formatVersion: version, ...others } = fields
  const item = encodeFields<Partial<FenceRecord>>(fenceFields as Fields<Partial<FenceRecord>>, others)
  return version === undefined ? item : { ...item, formatVersion: integer.encode(version) }
}

/**
 * @throws RelayError FORMAT_TOO_NEW when a newer major version wrote it, FENCE_RECORD_INVALID when an attribute is not
 * what format 1 says. Attributes that format 1 does not know are passed over; writes leave them as they are.
 */
export function decodeFence(item: StoredItem): FenceRecord {
  const version = integer.decode(item.formatVersion, 'formatVersion')
  if (version > formatVersion) {
    throw new RelayError(
      'FORMAT_TOO_NEW',
      `fence record ${item.id?.S} has format ${version}, this version reads up to ${formatVersion}; deploy the newer version again`,
      { context: { id: item.id?.S, found: version, bound: formatVersion } },
    )
  }
  return { ...decodeFields(fenceFields, item, ''), formatVersion }
}

function encodeFields<T extends object>(fields: Fields<T>, value: T): Item {
  const named = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(named.map(([name, field]) => [name, fields[name as keyof T].encode(field)]))
}

function decodeFields<T extends object>(fields: Fields<T>, stored: StoredItem, path: string): T {
  const entries = Object.entries<Field<unknown>>(fields as Fields<Record<string, unknown>>)
  return Object.fromEntries(entries.map(([name, field]) => [name, field.decode(stored[name], path + name)])) as T
}

function refuse(name: string, wanted: string, stored: unknown): never {
  const found = stored === undefined ? 'nothing' : JSON.stringify(stored)
  throw new RelayError(
    'FENCE_RECORD_INVALID',
    `attribute ${name} should be ${wanted}, found ${found}; restore the item from a backup, or delete it: the next open adopts what Kafka has`,
    { context: { attribute: name } },
  )
}
