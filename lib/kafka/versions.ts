import { RelayError } from '../errors.ts'
import { nodeKey } from './connection-config.ts'
import { type Api, apis } from './protocol/generated/index.ts'
import type { ApiRange, NodeAddress } from './transport.ts'

export interface VersionBounds {
  readonly minVersion?: number
  readonly maxVersion?: number
}

/**
 * The highest version that both sides speak, within the bounds.
 * @throws RelayError BROKER_TOO_OLD when there is none.
 */
export function chooseVersion(
  api: Api,
  node: NodeAddress,
  spoken: ApiRange | undefined,
  bounds: VersionBounds,
): number {
  const { min, max } = apis[api].versions
  const lowest = Math.max(min, bounds.minVersion ?? 0, spoken?.min ?? 0)
  const highest = Math.min(max, bounds.maxVersion ?? max, spoken?.max ?? -1)
  if (lowest <= highest) return highest
  const theirs = spoken === undefined ? 'does not know' : `speaks versions ${spoken.min} to ${spoken.max} of`
  const ours = `${Math.max(min, bounds.minVersion ?? 0)} to ${Math.min(max, bounds.maxVersion ?? max)}`
  throw new RelayError(
    'BROKER_TOO_OLD',
    `broker ${nodeKey(node)} ${theirs} ${api}, wanted ${ours}: use Kafka 3.6 to 4.x`,
    {
      context: { api, broker: nodeKey(node), spoken, bounds },
    },
  )
}
