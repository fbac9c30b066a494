import { extname, join } from 'node:path'
import delays from '../../../relays/delays.ts'
import { lanesOf } from '../../relay/lane-id.ts'
import { commitGroup } from '../../transaction/ids.ts'
import { deployRelay, functionHost } from '../deploy-relay.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'
import type { Stack } from '../stack.ts'

export const relay = delays
/** Transactional ids and the commit group begin with it. */
export const prefix = 'demo'
export const functionName = relay.name

/** One event source mapping poller for each, so that each partition has a container of its own. */
export const sourcePartitions = 4

export const group = commitGroup(prefix, relay.name)

export const lanes = lanesOf(Array(sourcePartitions).keys(), sourcePartitions, {
  prefix,
  relay: relay.name,
  topic: relay.sourceTopic,
  partitionsPerLane: relay.partitionsPerLane,
})

const relayModule = join(import.meta.dirname, '..', '..', '..', 'relays', `delays${extname(import.meta.filename)}`)
const functionTimeoutMs = 20_000

/** Not as a real deployment would have it: a lane whose owner was killed waits for one second and not for five. */
const shortLease = { FENCEPOST_LEASE_MS: '1000', FENCEPOST_RENEW_EVERY_MS: '300' }

export interface Deployment {
  readonly host: LambdaHost
  readonly bundleBytes: number
  invoke(event: unknown): Promise<InvokeResult>
}

/** Bundles the relay with its real entry point, unless that is done, and deploys it to a Lambda host with `containers` warm. */
export async function deployFlightRelay(
  stack: Stack,
  { dir, bundleDir }: { readonly dir: string; readonly bundleDir?: string },
  containers: number,
): Promise<Deployment> {
  const host = functionHost(stack)
  try {
    const { bytes } = await deployRelay(host, stack, {
      functionName,
      module: relayModule,
      trigger: 'relay',
      prefix,
      bundleDir: bundleDir ?? join(dir, 'bundle'),
      isBundled: bundleDir !== undefined,
      timeoutMs: functionTimeoutMs,
      env: shortLease,
    })
    await host.warm(functionName, containers)
    return { host, bundleBytes: bytes, invoke: (event) => host.invoke(functionName, event) }
  } catch (error) {
    await host.stop()
    throw error
  }
}
