import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, RelayError } from '../errors.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'

/**
 * The relay that a module exports by default. Node reads TypeScript as it is, so `relays/delays.ts` needs no build.
 * @throws RelayError CONFIG_INVALID
 */
export async function loadRelay(path: string): Promise<CompiledRelay> {
  const file = resolve(path)
  const fail = (why: string, cause?: unknown) =>
    new RelayError('CONFIG_INVALID', `relay module ${path} ${why}`, cause === undefined ? {} : { cause })
  await access(file).catch((cause) => {
    throw fail('does not exist: give its path from here', cause)
  })
  const module: unknown = await import(pathToFileURL(file).href).catch((cause) => {
    throw fail(`cannot be loaded: ${messageOf(cause)}`, cause)
  })
  const relay = (module as { readonly default?: unknown }).default
  if (isRelay(relay)) return relay
  throw fail('has no relay as its default export: write `export default defineRelay({ ... })`')
}

function isRelay(value: unknown): value is CompiledRelay {
  if (typeof value !== 'object' || value === null) return false
  return 'sourceTopic' in value && 'start' in value && typeof value.start === 'function'
}
