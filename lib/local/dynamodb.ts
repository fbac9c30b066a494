import { mkdir } from 'node:fs/promises'
import dynalite from 'dynalite'
import { type AwsEmulator, localAwsEndpoint } from './aws-endpoint.ts'
import { close, listen } from './http-server.ts'

export interface DynamoDbOptions {
  /** Keeps tables over restarts. Default: in memory. */
  readonly dataDir?: string
  /** Default: a free one. */
  readonly port?: number
}

/**
 * DynamoDB by dynalite, in this process. Conditional writes are atomic; it returns no item on a failed condition and
 * knows no transactions.
 * @throws RelayError LOCAL_STACK when the port is taken.
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<AwsEmulator> {
  if (options.dataDir !== undefined) await mkdir(options.dataDir, { recursive: true })
  const path = options.dataDir === undefined ? {} : { path: options.dataDir }
  const server = dynalite({ ...path, createTableMs: 0, deleteTableMs: 0 })
  const port = await listen(server, 'DynamoDB (dynalite)', options.port)
  return { ...localAwsEndpoint(port), port, stop: () => close(server) }
}
