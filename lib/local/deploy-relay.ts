import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundle, bundleRelay, type Trigger } from './bundle.ts'
import { createLambdaHost, type LambdaHost } from './lambda-host/lambda-host.ts'
import type { Stack } from './stack.ts'

export interface RelayFunction {
  readonly functionName: string
  /** The module whose default export is the relay. */
  readonly module: string
  readonly trigger: Trigger
  /** Transactional ids and the commit group begin with it. */
  readonly prefix: string
  readonly bundleDir: string
  /** The bundle is there already. Default false: it is made anew. */
  readonly isBundled?: boolean
  readonly timeoutMs: number
  readonly memoryMb?: number
  /** Default: counted by the host from 1. */
  readonly generation?: number
  /** Added to what every relay needs, or instead of it. */
  readonly env?: Readonly<Record<string, string>>
}

/** Above the function's timeout, because a session outlives its invocation (R10). */
export const transactionTimeoutOf = (functionTimeoutMs: number): number => functionTimeoutMs + 40_000

/** A Lambda host beside the stack, with a log for each container in the stack's logs. */
export const functionHost = (stack: Stack): LambdaHost =>
  createLambdaHost({ logDir: functionLogDir(stack), region: stack.dynamoDb.region })

export const functionLogDir = (stack: Stack): string => join(stack.logDir, 'functions')

/** Bundles a relay with its real entry point and deploys it, connected to the stack. @throws RelayError CONFIG_INVALID */
export async function deployRelay(host: LambdaHost, stack: Stack, plan: RelayFunction): Promise<Bundle> {
  const { functionName: name, bundleDir, timeoutMs, memoryMb, generation } = plan
  const bundle = plan.isBundled
    ? await finishedBundle(bundleDir)
    : await bundleRelay(plan.module, plan.trigger, bundleDir)
  await host.deploy({
    name,
    code: { bundleDir },
    handler: 'index.handler',
    timeoutMs,
    env: functionEnvironment(stack, plan),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(generation === undefined ? {} : { generation }),
  })
  return bundle
}

async function finishedBundle(bundleDir: string): Promise<Bundle> {
  const file = join(bundleDir, 'index.mjs')
  return { file, bytes: (await stat(file)).size }
}

/** What a deployment would set: docs/reference/settings.md. */
export function functionEnvironment(
  stack: Stack,
  { prefix, timeoutMs, env }: Pick<RelayFunction, 'prefix' | 'timeoutMs' | 'env'>,
): Readonly<Record<string, string>> {
  const { endpoint, credentials } = stack.dynamoDb
  return {
    FENCEPOST_PREFIX: prefix,
    FENCEPOST_BROKERS: stack.brokers.join(','),
    FENCEPOST_TABLE: stack.fenceTable,
    FENCEPOST_TABLE_ENDPOINT: endpoint,
    FENCEPOST_TRANSACTION_TIMEOUT_MS: String(transactionTimeoutOf(timeoutMs)),
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    POWERTOOLS_LOG_LEVEL: 'INFO',
    ...env,
  }
}
