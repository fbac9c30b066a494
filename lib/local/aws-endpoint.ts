/** Everything that an AWS SDK client needs to reach an emulator: spread it into the client's configuration. */
export interface AwsEndpoint {
  readonly endpoint: string
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

export interface AwsEmulator extends AwsEndpoint {
  readonly port: number
  stop(): Promise<void>
}

/** s3rver knows this key only; dynalite takes any. They open nothing anywhere. */
export const localAwsEndpoint = (port: number): AwsEndpoint => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'us-east-1',
  credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
})
