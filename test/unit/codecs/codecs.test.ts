import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bytes, type Codec, json, nullable, string } from '../../../lib/index.ts'

const text = (value: string) => Buffer.from(value)

describe('bytes', () => {
  test('hand over the very bytes, without a copy', () => {
    const raw = text('as it is')
    expect(bytes().decode(raw)).toBe(raw)
    expect(bytes().encode(raw)).toBe(raw)
  })

  test('refuse what is not bytes instead of writing its name', () => {
    const untyped = bytes() as Codec<unknown>
    expect(() => untyped.encode({ delay: 3 })).toThrow('bytes() takes a Buffer or Uint8Array, not object')
  })
})

describe('string', () => {
  test('gives back every text that it wrote', () => {
    const { encode, decode } = string()
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(decode(Buffer.from(encode(value)))).toBe(value)
      }),
    )
  })

  test('refuses bytes that are not UTF-8 instead of replacing them', () => {
    expect(() => string().decode(Buffer.from([0x61, 0xff]))).toThrow('the 2 bytes are not UTF-8')
  })
})

describe('json without a validator', () => {
  test('gives back every value that it wrote', () => {
    const { encode, decode } = json<unknown>()
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(decode(Buffer.from(encode(value)))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('says how many bytes it could not parse and where, and quotes none of them', () => {
    const error = thrownBy(() => json().decode(text('{"card": 4111-1111}')))
    expect(error.message).toBe('the 19 bytes are not JSON: it breaks off at position 13')
    expect(thrownBy(() => json().decode(text('secret'))).message).not.toContain('secret')
  })

  test('refuses what JSON cannot hold', () => {
    expect(() => json().encode(undefined)).toThrow('json() cannot write undefined')
    expect(() => json<unknown>().encode({ big: 1n })).toThrow(/BigInt/)
  })
})

const validators = {
  valibot: v.object({ delay: v.number(), at: v.optional(v.string(), 'unknown') }),
  zod: z.object({ delay: z.number(), at: z.string().default('unknown') }),
}

describe.each(Object.entries(validators))('json with a validator of %s', (_vendor, schema) => {
  const { encode, decode } = json(schema)

  test('gives what the validator returns', () => {
    expect(decode(text('{"delay":3}'))).toEqual({ delay: 3, at: 'unknown' })
  })

  test('writes the value as given, so that readers with the same validator can read it', () => {
    expect(String(encode({ delay: 3 }))).toBe('{"delay":3}')
  })

  test('names the field that is wrong, both ways', () => {
    expect(thrownBy(() => decode(text('{"delay":"3"}')))).toMatchObject({
      name: 'ValidationError',
      message: expect.stringMatching(/^delay: /),
    })
    expect(thrownBy(() => encode(JSON.parse('{"delay":"3"}')))).toMatchObject({ name: 'ValidationError' })
  })
})

describe('what a validator complains of', () => {
  test('is bounded, however many issues there are and however long they are', () => {
    const schema = v.record(v.string(), v.pipe(v.number(), v.maxValue(0, 'x'.repeat(1_000))))
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, 1])))
    const { message } = thrownBy(() => json(schema).decode(text(many)))
    expect(message.length).toBeLessThan(1_000)
    expect(message).toMatch(/^field0: x+…; .*; 95 more$/)
  })
})

describe('an asynchronous validator', () => {
  test('of valibot is refused before the first record', () => {
    const schema = v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    )
    expect(thrownBy(() => json(schema))).toMatchObject({ code: 'CONFIG_INVALID', disposition: 'fix-config' })
  })

  test('that shows itself by what it returns is refused at the first record, as a mistake in the relay', () => {
    const codec = json(z.string().refine(async () => true))
    expect(thrownBy(() => codec.decode(text('"x"')))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('zod validator given to json() is asynchronous'),
    })
  })
})

describe('nullable', () => {
  test('codes values as the codec inside does', () => {
    const codec = nullable(json<{ a: number }>())
    expect(codec.nullable).toBe(true)
    expect(codec.decode(Buffer.from(codec.encode({ a: 1 })))).toEqual({ a: 1 })
  })

  test('works on a codec with state', () => {
    class Shift implements Codec<number> {
      readonly name = 'shift'
      readonly #by = 2
      decode = (raw: Buffer) => raw.readInt8() - this.#by
      encode(value: number) {
        return Buffer.from([value + this.#by])
      }
    }
    const codec = nullable(new Shift())
    expect(codec.decode(Buffer.from(codec.encode(5)))).toBe(5)
  })
})

function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it should have thrown')
}
