import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** One rule of the commit protocol taken out of one file of the engine, in a bundle only. */
export interface BrokenRule {
  /** Under lib/. */
  readonly file: string
  /** Stands in it once. */
  readonly rule: string
  readonly instead: string
}

/** Bundles what is imported with the rule taken out. */
export function breaking({ file, rule, instead }: BrokenRule): Plugin {
  const path = join(import.meta.dirname, '..', '..', 'lib', file)
  return {
    name: 'broken-rule',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async (asked) => {
        if (asked.path !== path) return undefined
        const contents = replaceOnce(file, await readFile(path, 'utf8'), rule, instead)
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** The engine may have moved on since the rule was named: then it must not run unbroken. */
function replaceOnce(file: string, text: string, rule: string, instead: string): string {
  const parts = text.split(rule)
  if (parts.length === 2) return parts.join(instead)
  throw new Error(`lib/${file} has ${parts.length - 1} times what is to be broken, wanted once: ${rule}`)
}
