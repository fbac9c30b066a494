import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import delays from '../../../relays/delays.ts'
import { lanesOf } from '../../relay/lane-id.ts'
import { commitGroup } from '../../transaction/ids.ts'
import { bundleRelay } from '../bundle.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import { createLambdaHost, type LambdaHost } from '../lambda-host/lambda-host.ts'
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

const relayModule = fileURLToPath(new URL('../../../relays/delays.ts', import.meta.url))
const functionTimeoutMs = 20_000

/**
 * How the relay is deployed, with one setting that a real deployment would not have: the lease is short, so that a lane
 * whose owner was killed waits for one second and not for five.
 */
const environment = (stack: Stack): Record<string, string> => ({
  FENCEPOST_PREFIX: prefix,
  FENCEPOST_BROKERS: stack.brokers.join(','),
  FENCEPOST_TABLE: stack.fenceTable,
  FENCEPOST_TABLE_ENDPOINT: stack.dynamoDb.endpoint,
  FENCEPOST_TRANSACTION_TIMEOUT_MS: '60000',
  FENCEPOST_LEASE_MS: '1000',
  FENCEPOST_RENEW_EVERY_MS: '300',
  AWS_ACCESS_KEY_ID: stack.dynamoDb.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: stack.dynamoDb.credentials.secretAccessKey,
  POWERTOOLS_LOG_LEVEL: 'INFO',
})

export interface Deployment {
  readonly host: LambdaHost
  readonly bundleBytes: number
  invoke(event: unknown): Promise<InvokeResult>
}

/** Bundles the relay with its real entry point and deploys it to a Lambda host with `containers` warm. */
export async function deployRelay(stack: Stack, dir: string, containers: number): Promise<Deployment> {
  const bundleDir = join(dir, 'bundle')
  const { bytes } = await bundleRelay(relayModule, 'relay', bundleDir)
  const host = createLambdaHost({ logDir: join(stack.logDir, 'functions'), region: stack.dynamoDb.region })
  try {
    await host.deploy({
      name: functionName,
      code: { bundleDir },
      handler: 'index.handler',
      timeoutMs: functionTimeoutMs,
      env: environment(stack),
    })
    await host.warm(functionName, containers)
  } catch (error) {
    await host.stop()
    throw error
  }
  return { host, bundleBytes: bytes, invoke: (event) => host.invoke(functionName, event) }
}
