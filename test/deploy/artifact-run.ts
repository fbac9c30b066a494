import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { runDemo } from '../../lib/local/demo/demo.ts'
import { seconds } from '../../lib/units.ts'
import { artifacts } from './packaged.ts'

export interface ArtifactRun {
  readonly ok: boolean
  readonly lost: number
  readonly duplicated: number
  readonly records: number
  readonly kills: number
}

export interface ArtifactRunOptions {
  /** Where it was packaged. */
  readonly packageDir: string
  readonly function: string
  readonly dir: string
  readonly signal: AbortSignal
  say(line: string): void
}

const records = 60_000
const killsPerMinute = 40

/** The demo, verified as ever, with the function's zip in place of a bundle of its own. */
export async function runArtifact(options: ArtifactRunOptions): Promise<ArtifactRun> {
  const { packageDir, function: name, dir, signal, say } = options
  const zip = (await artifacts(packageDir)).find((one) => one.name === `${name}.zip`)
  if (!zip) throw new Error(`${name}.zip was not packaged in ${packageDir}`)
  const bundleDir = join(dir, 'unzipped')
  await rm(dir, { recursive: true, force: true })
  for (const [path, content] of Object.entries(zip.files)) {
    const file = join(bundleDir, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  const began = systemClock.now()
  const { result, report } = await runDemo({
    dir: join(dir, 'stack'),
    kafka: '4.1',
    records,
    arrivalMs: seconds(20),
    killsPerMinute,
    bundleDir,
    signal,
    say,
    progress: () => undefined,
    reading: () => undefined,
  })
  say(`${report.sentence} (${Math.round((systemClock.now() - began) / seconds(1))} s)`)
  const { ok, lost, duplicated, kills } = result
  return { ok, lost, duplicated, records: result.records, kills }
}
