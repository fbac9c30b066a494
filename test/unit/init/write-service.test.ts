import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeEmptyFolder, writeService } from '../../../lib/init/write-service.ts'

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fencepost-init-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('a folder that does not exist is made, an empty one taken, one with nothing but its git too', async () => {
  const folder = await temporary()
  await makeEmptyFolder(join(folder, 'a', 'b'))
  await makeEmptyFolder(join(folder, 'a', 'b'))
  await mkdir(join(folder, 'a', 'b', '.git'))
  await makeEmptyFolder(join(folder, 'a', 'b'))
  expect(await readdir(join(folder, 'a'))).toEqual(['b'])
})

test('a folder that holds something is refused by name, and left as it was', async () => {
  const folder = await temporary()
  await writeFile(join(folder, 'serverless.yml'), 'mine')
  await expect(makeEmptyFolder(folder)).rejects.toThrow(
    /holds 1 files \(serverless\.yml\), wanted a new or empty folder/,
  )
  expect(await readFile(join(folder, 'serverless.yml'), 'utf8')).toBe('mine')
})

test('a file in place of the folder is refused, and left as it was', async () => {
  const file = join(await temporary(), 'my-relay')
  await writeFile(file, 'mine')
  await expect(makeEmptyFolder(file)).rejects.toThrow(/cannot be made/)
  expect(await readFile(file, 'utf8')).toBe('mine')
})

test('a file that appears in the meantime is not overwritten', async () => {
  const folder = await temporary()
  await writeFile(join(folder, 'README.md'), 'mine')
  await expect(writeService(folder, new Map([['README.md', 'ours']]))).rejects.toThrow(/EEXIST/)
  expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('mine')
})
