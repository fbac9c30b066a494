import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { type BrokenRule, breaking } from '../../helpers/broken-rule.ts'
import type * as Matrix from '../crash-matrix/run-cell.ts'

/** Plays cells of the crash matrix with an engine that lacks the rule. `outfile`: in the project, whose packages it needs. */
export async function bundleMutant(broken: BrokenRule, outfile: string): Promise<typeof Matrix> {
  await build({
    entryPoints: [join(import.meta.dirname, '..', 'crash-matrix', 'run-cell.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
    plugins: [breaking(broken)],
  })
  return import(pathToFileURL(outfile).href)
}
