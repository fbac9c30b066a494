/** The two emulators come without types; these cover what is used of them. */
declare module 'dynalite' {
  import type { Server } from 'node:http'

  const dynalite: (options: { path?: string; createTableMs?: number; deleteTableMs?: number }) => Server
  export default dynalite
}

declare module 's3rver' {
  import type { RequestListener } from 'node:http'

  class S3rver {
    constructor(options: {
      directory: string
      silent: boolean
      vhostBuckets: boolean
      allowMismatchedSignatures: boolean
      configureBuckets: { name: string }[]
    })
    callback(): RequestListener
    configureBuckets(): Promise<unknown>
  }
  export default S3rver
}
