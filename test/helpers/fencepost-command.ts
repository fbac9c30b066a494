import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runCliProcess } from './cli.ts'
import { deploymentEnv } from './deployment-env.ts'
import { runMarker } from './leftovers.ts'
import type { RelayWorld } from './relay-world.ts'

/** The environment is read as that of a function, strictly: the run's own mark is no setting. */
const { [runMarker]: _, ...environment } = process.env

export interface ModuleOptions {
  /** Every record is dead-lettered. */
  readonly refusing?: boolean
  /** Every record takes so long, and says so on stderr. */
  readonly waitMs?: number
  /** Further lines of the definition. */
  readonly more?: string
}

/** The relay between a world's topics as a user's module. */
export async function moduleOf(
  { names }: { readonly names: Pick<RelayWorld['names'], 'source' | 'output' | 'dead'> },
  { refusing = false, waitMs = 0, more = '' }: ModuleOptions = {},
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fencepost-relay-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'copy.mjs')
  const api = JSON.stringify(join(import.meta.dirname, '..', '..', 'lib', 'index.ts'))
  await writeFile(
    file,
    `import { bytes, defineRelay, nullable, topic } from ${api}
export default defineRelay({
  name: 'copy',
  source: topic('${names.source}', nullable(bytes())),
  outputs: { copy: topic('${names.output}', nullable(bytes())) },
  deadLetters: topic('${names.dead}'),
  ${more}
  ${waitMs ? `async: { concurrency: 1, timeoutMs: ${waitMs + 5_000} }, window: { ms: ${waitMs + 10_000} },` : ''}
  ${waitMs ? 'async ' : ''}transform(record, { emit }) {
    ${waitMs ? `console.error('a record waits'); await new Promise((resolve) => setTimeout(resolve, ${waitMs}))` : ''}
    if (${refusing}) throw new Error('refused')
    emit.copy(record.value)
  },
})
`,
  )
  return file
}

/** `fencepost <command>` as an operator of this deployment types it. */
export async function fencepost(world: RelayWorld, module: string, [command = '', ...args]: readonly string[]) {
  const env = { ...environment, ...(await deploymentEnv(world)) }
  const { code, stdout, stderr } = await runCliProcess([command, '--relay', module, ...args], env).ended
  const json = args.includes('--json') ? JSON.parse(stdout.trim().split('\n').at(-1) ?? '') : null
  return { code, stdout, stderr, json }
}
