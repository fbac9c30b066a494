import { dirname } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const namespace = 'apart'
/** So that the question of this plugin is not answered by itself. */
const asked = Symbol('asked')

/** CommonJS packages that are imported late, and require what everybody else imports. */
const packages = /^aws-msk-iam-sasl-signer-js$/

/**
 * Bundles some packages apart, with copies of their own of what they need. A CommonJS package that requires modules which are
 * imported elsewhere makes all of these start as CommonJS does, one function around each, nothing of them left out: a
 * function would pay for it at each cold start, whether it ever wants the package or not. One that is not installed stays
 * an import, for whoever imports it to catch.
 */
export const apart = (options: BuildOptions): Plugin => ({
  name: 'apart',
  setup(outer) {
    outer.onResolve({ filter: packages }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === asked) return undefined
      const found = await outer.resolve(path, { kind, resolveDir, pluginData: asked })
      return found.errors.length > 0 ? undefined : { path: found.path, namespace, pluginData: path }
    })
    outer.onLoad({ filter: /./, namespace }, async ({ path, pluginData: name }) => {
      const resolveDir = dirname(path)
      const names = Object.keys(await import(path)).filter((one) => one !== 'default' && one !== 'module.exports')
      const stdin = { contents: `export { ${names.join(', ')} } from ${JSON.stringify(name)}`, resolveDir }
      const { outputFiles } = await build({ ...options, stdin, write: false, logLevel: 'silent' })
      return { contents: outputFiles[0]?.contents ?? '', resolveDir }
    })
  },
})
