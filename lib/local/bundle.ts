import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { messageOf, RelayError } from '../errors.ts'
import { apart } from './apart.ts'
import { lazyBuiltins } from './lazy-builtins.ts'
import { leanKafkajs } from './lean-kafkajs.ts'

/**
 * How our code is bundled, here and in the deploy: ES modules with everything inside, so that no layer or runtime version
 * can change what runs. CommonJS packages inside them still call `require`. No source map: it would be larger than the
 * code, and Node reads it only when it is told to.
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

/**
 * A whole function: what it imports late is in files of its own (`chunks/`), which are not even read as long as it is not
 * wanted. Its package is the folder with all of them.
 */
export const functionOptions = {
  ...bundleOptions,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [leanKafkajs, lazyBuiltins, apart({ ...bundleOptions, plugins: [lazyBuiltins] })],
} satisfies BuildOptions

export interface Bundle {
  /** The module to name in a handler: `<file without .mjs>.handler`. */
  readonly file: string
  /** Of all its files. */
  readonly bytes: number
}

/**
 * Bundles one function entry into `outDir` as `<entry's name>.mjs`.
 * @throws RelayError CONFIG_INVALID with esbuild's own messages.
 * @example await bundleFunction('functions/relay.ts', '.fencepost/functions/relay')
 */
export async function bundleFunction(entry: string, outDir: string): Promise<Bundle> {
  const bytes = await buildInto(outDir, entry, { entryPoints: [entry] })
  return { file: join(outDir, `${basename(entry, extname(entry))}.mjs`), bytes }
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
    `import { ${trigger}Handler } from ${JSON.stringify(join(functions, trigger + extname(import.meta.filename)))}`,
    `export const handler = ${trigger}Handler(relay)`,
  ].join('\n')
  const stdin = { contents, resolveDir: dirname(resolve(relayModule)), sourcefile: 'index.ts', loader: 'ts' } as const
  const bytes = await buildInto(outDir, relayModule, { stdin, entryNames: 'index' }, plugins)
  return { file: join(outDir, 'index.mjs'), bytes }
}

async function buildInto(outdir: string, what: string, entry: BuildOptions, before: Plugin[] = []): Promise<number> {
  const plugins = [...before, ...functionOptions.plugins]
  const options = { ...functionOptions, ...entry, plugins, outdir, metafile: true, logLevel: 'silent' } as const
  const { metafile } = await build(options).catch((cause) => {
    throw new RelayError('CONFIG_INVALID', `${what} cannot be bundled. ${messageOf(cause)}`, { cause })
  })
  return Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0)
}
