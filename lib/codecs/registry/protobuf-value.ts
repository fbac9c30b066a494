import proto from 'protobufjs'

/**
 * What keeps a plain value from being this message, by places and types and without the value itself; null when nothing
 * does. protobufjs checks its own message objects only, and turns whatever else it gets into text or zeros.
 */
export function messageProblem(type: proto.Type, value: unknown, path = ''): string | null {
  if (typeof value !== 'object' || value === null) return `${path || 'the value'} is not a ${type.name}`
  for (const [name, given] of Object.entries(value)) {
    const place = path ? `${path}.${name}` : name
    const field = type.fields[name]
    if (field === undefined) return `${place} is no field of ${type.name}`
    const problem = given === null || given === undefined ? null : fieldProblem(field.resolve(), given, place)
    if (problem !== null) return problem
  }
  return null
}

function fieldProblem(field: proto.Field, given: unknown, place: string): string | null {
  if (field instanceof proto.MapField) {
    if (typeof given !== 'object') return `${place} is not a map`
    return firstProblem(Object.entries(given ?? {}), ([key, one]) => oneProblem(field, one, `${place}.${key}`))
  }
  if (!field.repeated) return oneProblem(field, given, place)
  if (!Array.isArray(given)) return `${place} is not a list`
  return firstProblem([...given.entries()], ([index, one]) => oneProblem(field, one, `${place}.${index}`))
}

function firstProblem<T>(parts: readonly T[], problemOf: (part: T) => string | null): string | null {
  for (const part of parts) {
    const problem = problemOf(part)
    if (problem !== null) return problem
  }
  return null
}

function oneProblem({ type, resolvedType }: proto.Field, given: unknown, place: string): string | null {
  if (resolvedType instanceof proto.Type) return messageProblem(resolvedType, given, place)
  const fits = resolvedType instanceof proto.Enum ? isOf(resolvedType, given) : scalars[kindOf[type] ?? type]?.(given)
  return fits ? null : `${place} is not a ${type}`
}

const isOf = ({ values }: proto.Enum, given: unknown): boolean =>
  typeof given === 'string' ? given in values : Number.isInteger(given)

const kindOf: Readonly<Record<string, string>> = {
  sint32: 'int32',
  sfixed32: 'int32',
  fixed32: 'uint32',
  sint64: 'int64',
  sfixed64: 'int64',
  fixed64: 'uint64',
  float: 'double',
}

const scalars: Readonly<Record<string, (given: unknown) => boolean>> = {
  int32: (given) => Number.isInteger(given) && Number(given) === (Number(given) | 0),
  uint32: (given) => Number.isInteger(given) && Number(given) === Number(given) >>> 0,
  int64: (given) => Number.isSafeInteger(given) || (typeof given === 'bigint' && BigInt.asIntN(64, given) === given),
  uint64: (given) =>
    typeof given === 'bigint' ? BigInt.asUintN(64, given) === given : Number.isSafeInteger(given) && Number(given) >= 0,
  double: (given) => typeof given === 'number',
  bool: (given) => typeof given === 'boolean',
  string: (given) => typeof given === 'string',
  bytes: (given) => given instanceof Uint8Array,
}
