/**
 * Before a task runs: Java, Maven and the broker's jars, as far as this task needs them. Quiet when all is there.
 * Everything it says goes to stderr.
 */
import { access } from 'node:fs/promises'
import { messageOf } from '../lib/errors.ts'
import { runCommand } from '../lib/local/command.ts'
import { findJava } from '../lib/local/java.ts'
import { hasKafkaJars, type KafkaVersion, kafkaClassPath } from '../lib/local/kafka-jars.ts'
import { fetchApicurio, hasApicurio } from '../test/helpers/apicurio.ts'
import { versionsNeeded } from './versions-needed.ts'

const say = (line: string): void => console.error(`fencepost: ${line}`)

async function step(title: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  say(title)
  await work()
  say(`${title}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

/** Installs the first of the packages that this Debian or Ubuntu has; elsewhere, or when not root, leaves it to the user. */
async function installOne(packages: readonly string[]): Promise<void> {
  const isDebian = await access('/usr/bin/apt-get').then(
    () => true,
    () => false,
  )
  if (!isDebian || process.getuid?.() !== 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await runCommand('apt-get', ['update', '-qq'], { env })
  for (const name of packages) {
    const { code } = await runCommand('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], { env })
    if (code === 0) return
  }
}

async function ensureJava(): Promise<void> {
  try {
    await findJava()
  } catch (error) {
    if (process.env.JAVA_HOME) throw error
    const packages = ['openjdk-17-jre-headless', 'default-jre-headless']
    await step('installing Java by apt-get', () => installOne(packages))
    await findJava()
  }
}

async function ensureMaven(): Promise<void> {
  const { notFound } = await runCommand('mvn', ['--version'])
  if (notFound) await step('installing Maven by apt-get', () => installOne(['maven']))
}

async function ensureKafka(version: KafkaVersion): Promise<void> {
  if (await hasKafkaJars({ version })) return
  await ensureMaven()
  await step(`fetching Kafka ${version} by Maven (55 MB)`, () => kafkaClassPath({ version }))
}

/** For the integration tests of codecs only. */
async function ensureRegistry(): Promise<void> {
  if (await hasApicurio()) return
  await ensureMaven()
  await step('fetching the Apicurio schema registry by Maven (109 MB)', fetchApicurio)
}

try {
  const versions = versionsNeeded(process.argv[2] ?? '', process.argv.slice(3))
  if (versions.length > 0) await ensureJava()
  for (const version of versions) await ensureKafka(version)
  if (process.argv[2] === 'test' && versions.length > 0) await ensureRegistry()
} catch (error) {
  say(messageOf(error))
  process.exitCode = 1
}
