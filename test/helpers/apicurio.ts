/** A real schema registry: Apicurio from Maven Central (109 MB, fetched once), in memory, Confluent's API. */
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Clock, deadlineIn, systemClock } from '../../lib/clock.ts'
import { runCommand } from '../../lib/local/command.ts'
import { findJava } from '../../lib/local/java.ts'
import { quickJvmFlags } from '../../lib/local/kafka-config.ts'
import { freePorts } from '../../lib/local/ports.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from '../../lib/local/supervised-process.ts'

const version = '3.0.9'
const home = join(import.meta.dirname, '..', '..', '.fencepost', 'registry', version)
const artifact = `io.apicurio:apicurio-registry-app:${version}:tar.gz:all`
const startTimeoutMs = 60_000
const stopGraceMs = 5_000

export interface Apicurio {
  /** Of Confluent's API. */
  readonly url: string
  stop(): Promise<void>
}

export async function startApicurio(logFile: string): Promise<Apicurio> {
  const [java, [port]] = await Promise.all([findJava(), freePorts(1), fetchApicurio()])
  const settings = [`-Dquarkus.http.port=${port}`, '-Dquarkus.http.host=127.0.0.1']
  const jar = join(home, `apicurio-registry-app-${version}-runner.jar`)
  const args = ['-Xmx256m', ...quickJvmFlags, ...settings, '-jar', jar]
  const child = await startSupervised({ command: java, args, logFile })
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`
  await untilServing(url, child, logFile, systemClock)
  return { url, stop: async () => void (await stopSupervised(child, stopGraceMs)) }
}

export const hasApicurio = (): Promise<boolean> =>
  stat(home).then(
    () => true,
    () => false,
  )

/** Unpacked beside its place and moved there, so that an interrupted fetch leaves nothing that looks complete. */
export async function fetchApicurio(): Promise<void> {
  if (await hasApicurio()) return
  await mkdir(dirname(home), { recursive: true })
  const partial = await mkdtemp(`${home}.partial-`)
  const archive = join(partial, `apicurio-registry-app-${version}-all.tar.gz`)
  await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${partial}`])
  await run('tar', ['-xzf', archive, '-C', partial])
  await rm(archive)
  await rename(partial, home).catch(async (error) => {
    await rm(partial, { recursive: true, force: true })
    if (!(await hasApicurio())) throw error // another run was quicker
  })
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} could not fetch the schema registry:\n${output}`)
}

async function untilServing(url: string, child: SupervisedProcess, logFile: string, clock: Clock): Promise<void> {
  for (const deadline = deadlineIn(clock, startTimeoutMs); deadline.remainingMs() > 0; await clock.sleep(100)) {
    if (!child.running) break
    const response = await fetch(`${url}/subjects`).catch(() => null)
    if (response?.ok) return
  }
  throw new Error(`the schema registry does not serve; its log is ${logFile}`)
}
