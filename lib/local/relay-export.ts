import { RelayError } from '../errors.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'

/** The relay that a loaded module exports by default; `path` names it in the message. @throws RelayError CONFIG_INVALID */
export function relayExportedBy(module: unknown, path: string): CompiledRelay {
  const relay = (module as { readonly default?: unknown }).default
  if (isRelay(relay)) return relay
  throw new RelayError(
    'CONFIG_INVALID',
    `relay module ${path} has no relay as its default export: write \`export default defineRelay({ ... })\``,
  )
}

function isRelay(value: unknown): value is CompiledRelay {
  if (typeof value !== 'object' || value === null) return false
  return 'sourceTopic' in value && 'start' in value && typeof value.start === 'function'
}
