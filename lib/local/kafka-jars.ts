import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RelayError } from '../errors.ts'
import { type CommandResult, lastLines, runCommand } from './command.ts'

export const kafkaVersions = ['4.1', '3.9'] as const
export type KafkaVersion = (typeof kafkaVersions)[number]

export interface KafkaJarsOptions {
  readonly version: KafkaVersion
  /** Jars are kept in `<cacheDir>/<version>`. */
  readonly cacheDir?: string
  readonly env?: NodeJS.ProcessEnv
  /** Gives up a fetch that is under way. */
  readonly signal?: AbortSignal
  readonly log?: (line: string) => void
}

const marker = 'fetched-from-pom.sha256'
const pomOf = (version: KafkaVersion): string =>
  join(import.meta.dirname, '..', '..', 'infra', 'local', `kafka-${version}`, 'pom.xml')

interface Place {
  readonly dir: string
  readonly pom: string
  readonly pomSha256: string
}

async function placeOf({ version, cacheDir }: KafkaJarsOptions): Promise<Place> {
  const pom = pomOf(version)
  return {
    dir: join(cacheDir ?? join(process.cwd(), '.fencepost', 'kafka'), version),
    pom,
    pomSha256: createHash('sha256')
      .update(await readFile(pom))
      .digest('hex'),
  }
}

/** The jars are there and are those that the pom names. */
async function isComplete({ dir, pomSha256 }: Place): Promise<boolean> {
  const found = await readFile(join(dir, marker), 'utf8').catch(() => '')
  return found === pomSha256
}

/** Whether a start needs no Maven. */
export async function hasKafkaJars(options: KafkaJarsOptions): Promise<boolean> {
  return isComplete(await placeOf(options))
}

/**
 * The broker's class path; fetched by Maven the first time (about 55 MB). An interrupted fetch leaves nothing that looks
 * complete, and two at once do not disturb each other.
 * @throws RelayError LOCAL_STACK when Maven is missing or fails.
 */
export async function kafkaClassPath(options: KafkaJarsOptions): Promise<string> {
  const place = await placeOf(options)
  if (!(await isComplete(place))) {
    options.log?.(`fetching Kafka ${options.version} by Maven (55 MB, once)`)
    await mkdir(dirname(place.dir), { recursive: true })
    const partial = await mkdtemp(`${place.dir}.partial-`)
    await fetchJars(place.pom, partial, options)
    await writeFile(join(partial, marker), place.pomSha256)
    await put(partial, place)
  }
  return join(place.dir, '*')
}

async function fetchJars(pom: string, dir: string, options: KafkaJarsOptions): Promise<void> {
  const target = [`-DoutputDirectory=${dir}`, '-DincludeScope=runtime']
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', ...target]
  try {
    refuse(await runCommand('mvn', args, options), options.version)
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
}

function refuse({ code, output, notFound }: CommandResult, version: KafkaVersion): void {
  if (code === 0) return
  throw new RelayError(
    'LOCAL_STACK',
    notFound
      ? `No mvn on PATH; it fetches the Kafka ${version} broker. Install it (Debian or Ubuntu: apt-get install maven) or use a cluster that exists: --brokers host:port.`
      : `Maven could not fetch the Kafka ${version} broker (exit code ${code}); check the network and Maven's settings.\n${lastLines(output, 10)}`,
  )
}

async function put(partial: string, place: Place): Promise<void> {
  if (!(await isComplete(place))) await rm(place.dir, { recursive: true, force: true })
  try {
    await rename(partial, place.dir)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    if (!(await isComplete(place))) throw error
  }
}
