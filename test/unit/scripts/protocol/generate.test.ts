import { describe, expect, test } from 'vitest'
import { generateApi } from '../../../../scripts/protocol/emit.ts'
import { parseApi } from '../../../../scripts/protocol/schema.ts'

const request = (fields: string, flexibleVersions = '2+') => `{
  // A comment, as Kafka's schemas have them.
  "apiKey": 7, "type": "request", "name": "PingRequest", "validVersions": "0-5", "flexibleVersions": "${flexibleVersions}",
  "fields": [${fields}]
}`
const response = (fields = '') => `{
  "apiKey": 7, "type": "response", "name": "PingResponse", "validVersions": "0-5", "flexibleVersions": "2+",
  "fields": [${fields}]
}`
const generate = (fields: string, answer = '', min = 3, max = 5) =>
  generateApi(parseApi('Ping', { min, max }, request(fields), response(answer)), '4.1.0')

describe('a request', () => {
  test('has only the fields of the versions that are wanted', () => {
    const source = generate(
      '{"name":"Old","type":"int32","versions":"0-2"}, {"name":"New","type":"int32","versions":"1+"}',
    )
    expect(source).not.toContain('old')
    expect(source).toContain('readonly new: number')
    expect(source).toContain('writer.int32(value.new)')
  })

  test('writes a later field only where the version has it, and refuses a value elsewhere', () => {
    const source = generate('{"name":"Late","type":"int64","versions":"5+","default":"-1"}')
    expect(source).toContain('readonly late?: bigint')
    expect(source).toContain('if (version >= 5) writer.int64(value.late ?? -1n)')
    expect(source).toContain("else refuseField('PingRequest.late', value.late, -1n, version)")
  })

  test('drops an ignorable field in silence where the version lacks it', () => {
    expect(generate('{"name":"Hint","type":"string","versions":"4+","ignorable":true}')).not.toContain('refuseField')
  })

  test('tells null from a default that is not null', () => {
    const source = generate('{"name":"Rack","type":"string","versions":"0+","nullableVersions":"0+","default":"here"}')
    expect(source).toContain("writer.compactNullableString(value.rack === undefined ? 'here' : value.rack)")
  })

  test('writes tagged fields last, and only when given', () => {
    const tagged = '{"name":"Extra","type":"int8","versions":"4+","taggedVersions":"4+","tag":3}'
    const source = generate(`${tagged}, {"name":"Plain","type":"bool","versions":"0+"}`)
    expect(source).toContain('tagged(3, version >= 4 ? value.extra : undefined, (item, w) => w.int8(item))')
    expect(source.indexOf('writer.bool(value.plain)')).toBeLessThan(source.indexOf('tagged(3'))
  })

  test('does not ask for the version inside a struct that only later versions have', () => {
    const inner = '{"name":"Id","type":"uuid","versions":"4+"}'
    const source = generate(`{"name":"Items","type":"[]Item","versions":"4+","fields":[${inner}]}`)
    expect(source).toContain('export function encodeItem(value: Item, writer: Writer): void {')
  })
})

describe('an answer', () => {
  test('has every field in every version, with its default where the version lacks it', () => {
    const source = generate('', '{"name":"Late","type":"[]int32","versions":"5+"}')
    expect(source).toContain('readonly late: readonly number[]')
    expect(source).toContain('late: version >= 5 ? reader.compactArray(() => reader.int32()) : [],')
  })

  test('has tagged fields with their defaults until the tag is read', () => {
    const source = generate(
      '',
      '{"name":"Leader","type":"int32","versions":"3+","taggedVersions":"3+","tag":1,"default":"-1"}',
    )
    expect(source).toContain('leader: -1,')
    expect(source).toMatch(/case 1:\s+value\.leader = reader\.int32\(\)/)
  })
})

describe('what would give wrong codecs is refused', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['a version that Kafka does not have', () => generate('', '', 3, 6), /PingRequest has versions 0-5, wanted 3-6/],
    ['versions on both sides of the flexible ones', () => generate('', '', 1, 3), /becomes flexible inside 1-3/],
    [
      'a type that is not known',
      () => generate('{"name":"A","type":"float64","versions":"0+"}'),
      /type float64 is not known/,
    ],
    [
      'one name for two structs',
      () =>
        generate(
          '{"name":"A","type":"[]Same","versions":"0+","fields":[]}',
          '{"name":"B","type":"[]Same","versions":"0+","fields":[]}',
        ),
      /request and response both have a struct Same/,
    ],
    [
      'a nullable struct',
      () => generate('{"name":"A","type":"S","versions":"0+","nullableVersions":"0+","fields":[]}'),
      /nullable structs are not known/,
    ],
  ])('%s', (_what, act, message) => {
    expect(act).toThrow(message)
  })
})
