import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findJava, javaMajor } from '../../../lib/local/java.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-java-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** A JAVA_HOME whose java says this. */
async function javaHome(name: string, says: string): Promise<string> {
  const bin = join(dir, name, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'java'), `#!/bin/sh\necho '${says}' >&2\n`)
  await chmod(join(bin, 'java'), 0o755)
  return join(dir, name)
}

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_392"', 8],
  ['openjdk version "21" 2023-09-19', 21],
  ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25-ea"', 25],
  ['command not understood', null],
])('the major version in %j is %s', (output, major) => {
  expect(javaMajor(output)).toBe(major)
})

test('no Java on PATH is one message that says what to install', async () => {
  await expect(findJava({ PATH: dir })).rejects.toThrow(
    'No java on PATH; Kafka needs Java 17 or later. Install it (Debian or Ubuntu: apt-get install openjdk-17-jre-headless)',
  )
})

test('a JAVA_HOME without Java is named', async () => {
  await expect(findJava({ PATH: dir, JAVA_HOME: dir })).rejects.toThrow(`No java in JAVA_HOME (${dir})`)
})

test('a Java that is too old is named with its version and the bound', async () => {
  const home = await javaHome('old', 'openjdk version "11.0.2" 2019-01-15')
  await expect(findJava({ JAVA_HOME: home })).rejects.toThrow(
    `Java 11 found in JAVA_HOME (${home}); Kafka needs Java 17 or later`,
  )
})

test('the Java of JAVA_HOME wins', async () => {
  const home = await javaHome('new', 'openjdk version "21.0.1" 2023-10-17')
  expect(await findJava({ PATH: dir, JAVA_HOME: home })).toBe(join(home, 'bin', 'java'))
})
