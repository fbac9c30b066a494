import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import S3rver from 's3rver'
import { type AwsEmulator, localAwsEndpoint } from './aws-endpoint.ts'
import { close, listen } from './http-server.ts'

export interface S3Options {
  readonly dataDir: string
  readonly buckets: readonly string[]
  /** Default: a free one. */
  readonly port?: number
}

export interface S3Emulator extends AwsEmulator {
  /** Buckets are in the path, not in the host name. */
  readonly forcePathStyle: true
}

/**
 * S3 by s3rver, in this process. Bodies must be buffers: it stores streamed ones with their chunk framing. It ignores
 * IfNoneMatch and IfMatch.
 * @throws RelayError LOCAL_STACK when the port is taken.
 */
export async function startS3(options: S3Options): Promise<S3Emulator> {
  await mkdir(options.dataDir, { recursive: true })
  const app = new S3rver({
    directory: options.dataDir,
    silent: true,
    vhostBuckets: false,
    allowMismatchedSignatures: true,
    configureBuckets: options.buckets.map((name) => ({ name })),
  })
  await app.configureBuckets()
  const server = createServer(app.callback())
  const port = await listen(server, 'S3 (s3rver)', options.port)
  return { ...localAwsEndpoint(port), port, forcePathStyle: true, stop: () => close(server) }
}
