import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nextGeneration } from '../../../../lib/local/dev/generation.ts'
import { RelayNames } from '../../../../lib/local/dev/relay-names.ts'

test('generations go on where the last run ended', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-generation-'))
  const file = join(dir, 'data', 'generation')
  expect([nextGeneration(file), nextGeneration(file), nextGeneration(file)]).toEqual([1, 2, 3])
  await rm(dir, { recursive: true })
  expect(nextGeneration(file)).toBe(1)
  await rm(dir, { recursive: true })
})

test('two modules cannot have one name; one may take another name, and leaves its own to others', () => {
  const names = new RelayNames()
  names.claim('a.ts', 'delays')
  names.claim('a.ts', 'delays')
  expect(() => names.claim('b.ts', 'delays')).toThrow("a.ts and b.ts are both relays named 'delays'")
  names.claim('a.ts', 'late')
  expect(() => names.claim('b.ts', 'delays')).not.toThrow()
})
