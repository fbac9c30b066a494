import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { messageOf, RelayError } from '../errors.ts'

/**
 * How functions are bundled, here and in the deploy: one ES module with everything inside, so that a cold start reads
 * one file and no layer or runtime version can change what runs. CommonJS packages inside it still call `require`.
 */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  mainFields: ['module', 'main'],
  minify: true,
  keepNames: true,
  legalComments: 'none',
  banner: {
    js: [
      "import { createRequire as fencepostRequire } from 'node:module';",
      'const require = fencepostRequire(import.meta.url);',
      'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join(''),
  },
} as const satisfies BuildOptions

export interface Bundle {
  /** The module to name in a handler: `<file without .mjs>.handler`. */
  readonly file: string
  readonly bytes: number
}

/**
 * Bundles one function entry into `outDir` as `<entry's name>.mjs`.
 * @throws RelayError CONFIG_INVALID with esbuild's own messages.
 * @example await bundleFunction('functions/relay.ts', '.fencepost/functions/relay')
 */
export async function bundleFunction(entry: string, outDir: string): Promise<Bundle> {
  try {
    await build({ ...bundleOptions, entryPoints: [entry], outdir: outDir, logLevel: 'silent' })
  } catch (error) {
    throw new RelayError('CONFIG_INVALID', `${entry} cannot be bundled. ${messageOf(error)}`, { cause: error })
  }
  const file = join(outDir, `${basename(entry, extname(entry))}.mjs`)
  return { file, bytes: (await stat(file)).size }
}

export type Trigger = 'relay' | 'pull' | 'sweep' | 'status'

/**
 * Bundles a relay behind one of the functions in `functions/`: `relay` for an event source mapping, `pull` for a
 * schedule, `sweep` for a slow one, `status` for operators. `relayModule` exports the relay as its default. The handler
 * is `index.handler`.
 */
export async function bundleRelay(
  relayModule: string,
  trigger: Trigger,
  outDir: string,
  plugins: Plugin[] = [],
): Promise<Bundle> {
  const functions = fileURLToPath(new URL('../../functions/', import.meta.url))
  const contents = [
    `import relay from ${JSON.stringify(resolve(relayModule))}`,
    `import { ${trigger}Handler } from ${JSON.stringify(join(functions, `${trigger}.ts`))}`,
    `export const handler = ${trigger}Handler(relay)`,
  ].join('\n')
  const file = join(outDir, 'index.mjs')
  const stdin = { contents, resolveDir: dirname(resolve(relayModule)), sourcefile: 'index.ts', loader: 'ts' } as const
  try {
    const { outExtension: _, ...options } = bundleOptions
    await build({ ...options, stdin, outfile: file, plugins, logLevel: 'silent' })
  } catch (error) {
    throw new RelayError('CONFIG_INVALID', `${relayModule} cannot be bundled. ${messageOf(error)}`, { cause: error })
  }
  return { file, bytes: (await stat(file)).size }
}
