import { join } from 'node:path'
import { RelayError } from '../errors.ts'
import { runCommand } from './command.ts'

/** Kafka 4 brokers need it. */
const javaMajorMin = 17
const fix = 'Install it (Debian or Ubuntu: apt-get install openjdk-17-jre-headless) or point JAVA_HOME at one.'

/** The major version in what `java -version` prints: 17 of "17.0.15", 8 of "1.8.0_392"; null when there is none. */
export function javaMajor(output: string): number | null {
  const match = /version "(?:1\.)?(\d+)/.exec(output)
  return match?.[1] === undefined ? null : Number(match[1])
}

/**
 * The `java` to run brokers with: of JAVA_HOME when set, else of PATH.
 * @throws RelayError LOCAL_STACK when there is none of version 17 or later.
 */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const command = env.JAVA_HOME ? join(env.JAVA_HOME, 'bin', 'java') : 'java'
  const where = env.JAVA_HOME ? `in JAVA_HOME (${env.JAVA_HOME})` : 'on PATH'
  const { output, notFound } = await runCommand(command, ['-version'], { env })
  if (notFound)
    throw new RelayError('LOCAL_STACK', `No java ${where}; Kafka needs Java ${javaMajorMin} or later. ${fix}`)
  const major = javaMajor(output)
  if (major === null)
    throw new RelayError('LOCAL_STACK', `${command} does not tell its version: ${output.trim()}. ${fix}`)
  if (major < javaMajorMin) {
    throw new RelayError(
      'LOCAL_STACK',
      `Java ${major} found ${where}; Kafka needs Java ${javaMajorMin} or later. ${fix}`,
      { context: { command, major } },
    )
  }
  return command
}
