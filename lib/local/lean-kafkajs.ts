import { dirname, join, sep } from 'node:path'
import type { Plugin } from 'esbuild'

const namespace = 'lean-kafkajs'
const saslAuthenticator = ['kafkajs', 'src', 'broker', 'saslAuthenticator', 'index.js'].join(sep)

/** Its two requests, and how it chooses their version: the newest that both sides have. */
const saslRequests = `
exports.requests = { SaslHandshake: require('./saslHandshake'), SaslAuthenticate: require('./saslAuthenticate') }
exports.lookup = (versions) => (key, { versions: known, protocol }) => {
  const offered = versions[key]
  if (offered === undefined) throw new Error('the broker does not support API ' + key)
  return protocol({ version: Math.min(Math.max(...known), offered.maxVersion) })
}`

/**
 * kafkajs connects and authenticates for us (lib/kafka/connect.ts), but its authenticator brings all of its requests, a sixth
 * of a function's bytes. Here it gets the two that it sends. A relay that uses kafkajs itself gets the whole of it, as ever.
 */
export const leanKafkajs: Plugin = {
  name: 'lean-kafkajs',
  setup(build) {
    build.onResolve({ filter: /^\.\.\/\.\.\/protocol\/requests$/ }, ({ importer }) => {
      if (!importer.endsWith(saslAuthenticator)) return undefined
      return { path: join(dirname(importer), '..', '..', 'protocol', 'requests'), namespace }
    })
    build.onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: saslRequests, resolveDir: path }))
  },
}
