import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readRelayModule } from '../../../../lib/local/dev/relay-module.ts'

const fencepost = fileURLToPath(new URL('../../../../lib/index.ts', import.meta.url))
let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-module-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const write = (name: string, text: string) => writeFile(join(dir, name), text)
const read = () => readRelayModule(join(dir, 'relay.ts'), join(dir, 'work'))
const relay = (imports = '') => `
  import { defineRelay, topic } from ${JSON.stringify(fencepost)}
  ${imports}
  export default defineRelay({
    name: 'copy', source: topic(from), outputs: { out: topic('out') }, transform: (record, { emit }) => emit.out(record.value),
  })`
const withNames = relay("import { from } from './names.ts'")

test('a relay is read anew from its files as they are now', async () => {
  await write('names.ts', "export const from: string = 'in'")
  await write('relay.ts', withNames)
  const first = await read()
  await write('names.ts', "export const from: string = 'elsewhere'")
  const second = await read()
  expect([first, second].map((one) => one.relay.sourceTopic)).toEqual(['in', 'elsewhere'])
  expect(second.sha256).not.toBe(first.sha256)
})

test('its files are those that its author wrote, not packages and not Fencepost', async () => {
  await write('names.ts', "export const from = 'in'")
  await write('relay.ts', withNames)
  const { files } = await read()
  expect([...files].sort()).toEqual([join(dir, 'names.ts'), join(dir, 'relay.ts')])
})

test('a comment makes no other relay', async () => {
  await write('names.ts', "export const from = 'in'")
  await write('relay.ts', withNames)
  const first = await read()
  await write('relay.ts', `// hello\n${withNames}`)
  expect((await read()).sha256).toBe(first.sha256)
})

test.each([
  ['export default defineRelay(', /relay\.ts cannot be bundled: .*Unexpected/s],
  ["import './nowhere.ts'", /relay\.ts cannot be bundled: .*nowhere/s],
  ["throw new Error('no luck')", /relay\.ts cannot be loaded: no luck/],
  ['export const relay = 1', /relay\.ts has no relay as its default export: write `export default defineRelay/],
])('%j is refused by name', async (text, message) => {
  await write('relay.ts', text)
  await expect(read()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })
})

test('a module that is not there is refused by name', async () => {
  await expect(read()).rejects.toThrow(/relay\.ts does not exist: give its path from here/)
})
