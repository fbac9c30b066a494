import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, RelayError } from '../errors.ts'
import { relayExportedBy } from '../local/relay-export.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'

/**
 * The relay that a module exports by default. Node reads TypeScript as it is, so `relays/delays.ts` needs no build.
 * @throws RelayError CONFIG_INVALID
 */
export async function loadRelay(path: string): Promise<CompiledRelay> {
  const file = resolve(path)
  const fail = (why: string, cause: unknown) =>
    new RelayError('CONFIG_INVALID', `relay module ${path} ${why}`, { cause })
  await access(file).catch((cause) => {
    throw fail('does not exist: give its path from here', cause)
  })
  const module: unknown = await import(pathToFileURL(file).href).catch((cause) => {
    throw fail(`cannot be loaded: ${messageOf(cause)}`, cause)
  })
  return relayExportedBy(module, path)
}
