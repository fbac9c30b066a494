import { expect, test } from 'vitest'
import { secretReference } from '../../../lib/secrets/secret-reference.ts'
import { cachedSecrets } from '../../../lib/secrets/secrets.ts'

const reference = secretReference('ssm:/kafka')

/** Answers the texts one after the other, the last one for ever; null fails. */
function storeOf(...texts: (string | null)[]) {
  let reads = 0
  return {
    get reads() {
      return reads
    },
    async read() {
      const text = texts[Math.min(reads++, texts.length - 1)]
      if (text === null || text === undefined) throw new Error('the store is away')
      return text
    },
  }
}

test('a secret is read once and kept, by however many it is asked for', async () => {
  const store = storeOf('a', 'b')
  const secrets = cachedSecrets(store)
  expect(await Promise.all([secrets.read(reference), secrets.read(reference)])).toEqual(['a', 'a'])
  expect(await secrets.read(reference)).toBe('a')
  expect(store.reads).toBe(1)
})

test('one that was refused is read once more, for all that were refused with it', async () => {
  const store = storeOf('a', 'b')
  const secrets = cachedSecrets(store)
  await secrets.read(reference)
  expect(await Promise.all([1, 2, 3].map(() => secrets.readAnew(reference, 'a')))).toEqual(['b', 'b', 'b'])
  expect(await secrets.readAnew(reference, 'a')).toBe('b')
  expect(await secrets.read(reference)).toBe('b')
  expect(store.reads).toBe(2)
})

test('one that is still the same is told to be', async () => {
  const store = storeOf('a')
  const secrets = cachedSecrets(store)
  await secrets.read(reference)
  expect(await secrets.readAnew(reference, 'a')).toBeNull()
  expect(store.reads).toBe(2)
})

test('a store that is away is asked again by the next, and takes nothing away that is known', async () => {
  const late = cachedSecrets(storeOf(null, 'a'))
  await expect(late.read(reference)).rejects.toThrow('away')
  expect(await late.read(reference)).toBe('a')

  const known = cachedSecrets(storeOf('a', null))
  await known.read(reference)
  await expect(known.readAnew(reference, 'a')).rejects.toThrow('away')
  expect(await known.read(reference)).toBe('a')
})
