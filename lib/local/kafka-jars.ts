import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayError } from '../errors.ts'
import { lastLines, runCommand } from './command.ts'

export const kafkaVersions = ['4.1', '3.9'] as const
export type KafkaVersion = (typeof kafkaVersions)[number]

export interface KafkaJarsOptions {
  readonly version: KafkaVersion
  /** Jars are kept in `<cacheDir>/<version>`. */
  readonly cacheDir?: string
  readonly env?: NodeJS.ProcessEnv
  readonly log?: (line: string) => void
}

const marker = 'fetched-from-pom.sha256'
const pomOf = (version: KafkaVersion): string =>
  join(import.meta.dirname, '..', '..', 'infra', 'local', `kafka-${version}`, 'pom.xml')

/** Whether the jars are there and are those that the pom names. */
async function isComplete(dir: string, pomSha256: string): Promise<boolean> {
  const found = await readFile(join(dir, marker), 'utf8').catch(() => '')
  return found === pomSha256
}

/**
 * The broker's class path; fetched by Maven the first time (about 55 MB). An interrupted fetch leaves nothing that looks
 * complete, and two at once do not disturb each other.
 * @throws RelayError LOCAL_STACK when Maven is missing or fails.
 */
export async function kafkaClassPath(options: KafkaJarsOptions): Promise<string> {
  const cacheDir = options.cacheDir ?? join(process.cwd(), '.fencepost', 'kafka')
  const dir = join(cacheDir, options.version)
  const pom = pomOf(options.version)
  const pomSha256 = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
  if (!(await isComplete(dir, pomSha256))) {
    options.log?.(`fetching Kafka ${options.version} from Maven Central`)
    const partial = `${dir}.${process.pid}.partial`
    await fetchJars(pom, partial, options)
    await writeFile(join(partial, marker), pomSha256)
    await put(partial, dir, pomSha256)
  }
  return join(dir, '*')
}

async function fetchJars(pom: string, dir: string, { version, env }: KafkaJarsOptions): Promise<void> {
  await mkdir(dir, { recursive: true })
  const args = [
    '-q',
    '-B',
    '-f',
    pom,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${dir}`,
    '-DincludeScope=runtime',
  ]
  const { code, output, notFound } = await runCommand('mvn', args, env)
  if (code === 0) return
  await rm(dir, { recursive: true, force: true })
  throw new RelayError(
    'LOCAL_STACK',
    notFound
      ? `No mvn on PATH; it fetches the Kafka ${version} broker. Install it (Debian or Ubuntu: apt-get install maven) or use a cluster that exists: --brokers host:port.`
      : `Maven could not fetch the Kafka ${version} broker (exit code ${code}); check the network and Maven's settings.\n${lastLines(output, 10)}`,
  )
}

async function put(partial: string, dir: string, pomSha256: string): Promise<void> {
  if (!(await isComplete(dir, pomSha256))) await rm(dir, { recursive: true, force: true })
  try {
    await rename(partial, dir)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    if (!(await isComplete(dir, pomSha256))) throw error
  }
}
