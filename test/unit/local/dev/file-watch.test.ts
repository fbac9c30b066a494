import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FileWatch } from '../../../../lib/local/dev/file-watch.ts'

let dir: string
let watch: FileWatch
const changed = new Set<string>()
beforeEach(async () => {
  changed.clear()
  dir = await mkdtemp(join(tmpdir(), 'fencepost-watch-'))
  await mkdir(join(dir, 'sub'))
  for (const name of ['a.ts', 'b.ts', 'sub/c.ts']) await writeFile(join(dir, name), 'one')
  watch = new FileWatch((file) => changed.add(file))
})
afterEach(async () => {
  watch.close()
  await rm(dir, { recursive: true, force: true })
})

const at = (name: string) => join(dir, name)
/** Events come in order: once the last one is here, those before it are. */
const untilChanged = (name: string) => vi.waitFor(() => expect([...changed]).toContain(at(name)), { interval: 5 })

test('tells of files that are written or replaced, as editors do, and of no others', async () => {
  watch.follow([at('a.ts'), at('sub/c.ts')])
  await writeFile(at('b.ts'), 'two')
  await writeFile(at('new.ts'), 'two')
  await rename(at('new.ts'), at('a.ts'))
  await untilChanged('a.ts')
  await writeFile(at('sub/c.ts'), 'two')
  await untilChanged('sub/c.ts')
  expect(changed).toEqual(new Set([at('a.ts'), at('sub/c.ts')]))
})

test('follows other files from now on', async () => {
  watch.follow([at('a.ts'), at('sub/c.ts')])
  watch.follow([at('b.ts')])
  await writeFile(at('sub/c.ts'), 'two')
  await writeFile(at('a.ts'), 'two')
  await writeFile(at('b.ts'), 'two')
  await untilChanged('b.ts')
  expect(changed).toEqual(new Set([at('b.ts')]))
})
