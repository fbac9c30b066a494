import { createHash } from 'node:crypto'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { messageOf, RelayError } from '../../errors.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import { bundleOptions } from '../bundle.ts'
import { relayExportedBy } from '../relay-export.ts'

/** A relay as its files stand at the moment. */
export interface RelayModule {
  readonly relay: CompiledRelay
  /** Absolute paths of what its author wrote: the module and what it imports, without packages and Fencepost itself. */
  readonly files: readonly string[]
  /** Of all its code: the same as long as nothing that counts has changed. */
  readonly sha256: string
}

const fencepost = resolve(import.meta.dirname, '..', '..') + sep

/**
 * Reads a relay from its module. Bundled to a file named by its content first, because Node answers a second import of a
 * module with what it read the first time.
 * @throws RelayError CONFIG_INVALID with the bundler's messages, or what loading it threw
 */
export async function readRelayModule(path: string, workDir: string): Promise<RelayModule> {
  const refused = (what: string) => (cause: unknown) => {
    throw new RelayError('CONFIG_INVALID', `relay module ${path} ${what}: ${messageOf(cause)}`, { cause })
  }
  await access(path).catch(refused('does not exist: give its path from here'))
  const { code, inputs } = await bundled(path).catch(refused('cannot be bundled'))
  const sha256 = createHash('sha256').update(code).digest('hex')
  const file = join(workDir, `${sha256}.mjs`)
  await mkdir(workDir, { recursive: true })
  await writeFile(file, code)
  const module: unknown = await import(pathToFileURL(file).href).catch(refused('cannot be loaded'))
  return {
    relay: relayExportedBy(module, path),
    files: inputs.map((input) => resolve(input)).filter(isAuthors),
    sha256,
  }
}

async function bundled(path: string): Promise<{ readonly code: Uint8Array; readonly inputs: readonly string[] }> {
  const { outExtension: _, ...options } = bundleOptions
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [path],
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), inputs: Object.keys(metafile.inputs) }
}

const isAuthors = (file: string): boolean => !file.startsWith(fencepost) && !file.includes(`${sep}node_modules${sep}`)
