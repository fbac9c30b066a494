import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'

/** Objects that programs write to, or that are there from the start of the process. */
const global = new Set(['process', 'console'])

/**
 * Node's own modules are loaded when something of them is first used. An `import` of one reads everything that it exports,
 * also what it would have loaded on demand: `node:http` brings the whole of fetch, `node:crypto` WebCrypto. That is a third
 * of the time in which a function's bundle loads, and most of it is never used.
 */
export const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      if (kind === 'import-statement') return { path: path.replace(/^node:/, ''), namespace: 'builtin' }
      return kind === 'dynamic-import' ? { path: path.replace(/^node:/, ''), namespace: 'late-builtin' } : undefined
    })
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => {
      const module = process.getBuiltinModule(path) ?? {}
      const isEager = typeof module === 'function' || global.has(path)
      return { contents: isEager ? `module.exports = require('node:${path}')` : lazy(path, Object.keys(module)) }
    })
    build.onLoad({ filter: /./, namespace: 'late-builtin' }, ({ path }) => ({
      contents: late(path, Object.keys(process.getBuiltinModule(path) ?? {})),
    }))
  },
}

const lazy = (path: string, names: readonly string[]): string => `
let loaded
const load = () => (loaded ??= require('node:${path}'))
for (const name of ${JSON.stringify(names)})
  Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] })`

/** For `await import()`, whose names cannot be looked up late: without those that are globals anyway, as fetch's are. */
const late = (path: string, names: readonly string[]): string => `
const loaded = require('node:${path}')
export default loaded
export const { ${names.filter((name) => !(name in globalThis)).join(', ')} } = loaded`
