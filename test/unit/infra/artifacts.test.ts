import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeArtifact } from '../../../infra/artifacts.ts'
import { mebibytes } from '../../../lib/units.ts'

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-artifacts-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function zipped(name: string): Promise<Buffer> {
  const file = join(dir, 'made', `${name}.zip`)
  await writeArtifact('relays/delays.ts', 'relay', file)
  return readFile(file)
}

test('the zip of a function is modules only, at most 1 MB, and the same bytes for the same code', async () => {
  const first = await zipped('first')
  const names = Object.keys(unzipSync(first))
  expect(names).toContain('index.mjs')
  expect(names.filter((name) => !/^(index|chunks\/[\w-]+)\.mjs$/.test(name))).toEqual([])
  expect(first.length).toBeLessThan(mebibytes(1))
  expect((await zipped('second')).equals(first)).toBe(true)
}, 30_000)

test('every module that a module of it names is in it', async () => {
  const files = unzipSync(await zipped('whole'))
  const texts = Object.values(files).map((bytes) => new TextDecoder().decode(bytes))
  const named = texts.flatMap((text) => [
    ...text.matchAll(/["']\.{1,2}\/((?:chunks\/)?chunk-[\w]+|chunks\/[\w-]+)\.mjs["']/g),
  ])
  const wanted = new Set(named.map(([, name = '']) => `chunks/${name.replace('chunks/', '')}.mjs`))
  expect(wanted.size).toBeGreaterThan(0)
  expect([...wanted].filter((name) => !(name in files))).toEqual([])
}, 30_000)

test('Lambda, which runs it as another user, may read it', async () => {
  const zip = await zipped('third')
  const central = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  expect((zip.readUInt32LE(central + 38) >>> 16) & 0o777).toBe(0o644)
}, 30_000)

test('a relay that cannot be bundled is named, with what is wrong with it', async () => {
  await expect(writeArtifact('relays/absent.ts', 'relay', join(dir, 'x.zip'))).rejects.toThrow(
    /CONFIG_INVALID: relays\/absent\.ts cannot be bundled\. .*Could not resolve/s,
  )
}, 30_000)
