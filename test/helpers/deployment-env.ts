import { dynamoDbEndpoint } from './stack.ts'

export interface DeploymentPlace {
  readonly prefix: string
  readonly brokers: readonly string[]
  readonly table?: string
}

/** What a deployment on the tests' stack would have in its environment; leases are short, so that deaths cost little. */
export async function deploymentEnv({ prefix, brokers, table = 'fencepost-relays' }: DeploymentPlace) {
  const { endpoint, region, credentials } = await dynamoDbEndpoint()
  return {
    FENCEPOST_PREFIX: prefix,
    FENCEPOST_BROKERS: brokers.join(','),
    FENCEPOST_TABLE: table,
    FENCEPOST_TABLE_ENDPOINT: endpoint,
    FENCEPOST_TRANSACTION_TIMEOUT_MS: '60000',
    FENCEPOST_COMMIT_RESERVE_MS: '500',
    FENCEPOST_LEASE_MS: '1000',
    FENCEPOST_RENEW_EVERY_MS: '300',
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
}
