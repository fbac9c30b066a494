import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasKafkaJars, kafkaClassPath } from '../../../lib/local/kafka-jars.ts'

let dir: string
let cacheDir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-jars-'))
  cacheDir = join(dir, 'cache')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** A PATH whose mvn is this shell script. */
async function mavenThat(script: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(dir, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'mvn'), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, 'mvn'), 0o755)
  return { PATH: `${bin}:/usr/bin:/bin` }
}

const fetchOne = `echo run >> "$(dirname "$0")/runs"
for arg in "$@"; do case $arg in -DoutputDirectory=*) touch "\${arg#-DoutputDirectory=}/kafka.jar";; esac; done`

test('jars are fetched once', async () => {
  const env = await mavenThat(fetchOne)
  const options = { version: '4.1', cacheDir, env } as const
  expect(await hasKafkaJars(options)).toBe(false)
  expect(await kafkaClassPath(options)).toBe(join(cacheDir, '4.1', '*'))
  expect(await hasKafkaJars(options)).toBe(true)
  await kafkaClassPath({ ...options, env: { PATH: dir } })
  expect(await readdir(cacheDir)).toEqual(['4.1'])
  expect(await readdir(join(cacheDir, '4.1'))).toContain('kafka.jar')
})

test('two fetches at once leave one complete directory', async () => {
  const env = await mavenThat(fetchOne)
  const options = { version: '4.1', cacheDir, env } as const
  await Promise.all([kafkaClassPath(options), kafkaClassPath(options)])
  expect(await hasKafkaJars(options)).toBe(true)
  expect(await readdir(cacheDir)).toEqual(['4.1'])
})

test('jars of another pom, or of a fetch that was cut short, are replaced', async () => {
  await mkdir(join(cacheDir, '4.1'), { recursive: true })
  await writeFile(join(cacheDir, '4.1', 'old.jar'), '')
  const env = await mavenThat(fetchOne)
  await kafkaClassPath({ version: '4.1', cacheDir, env })
  expect(await readdir(join(cacheDir, '4.1'))).not.toContain('old.jar')
})

test('no Maven on PATH is one message that says what to install', async () => {
  await expect(kafkaClassPath({ version: '3.9', cacheDir, env: { PATH: dir } })).rejects.toThrow(
    'No mvn on PATH; it fetches the Kafka 3.9 broker. Install it (Debian or Ubuntu: apt-get install maven)',
  )
})

test('a Maven that fails is quoted, and nothing that looks complete is left', async () => {
  const env = await mavenThat('echo "Could not transfer artifact: Connection refused"; exit 3')
  const fetch = kafkaClassPath({ version: '4.1', cacheDir, env })
  await expect(fetch).rejects.toThrow(/exit code 3.*Connection refused/s)
  expect(await readdir(cacheDir)).toEqual([])
})
