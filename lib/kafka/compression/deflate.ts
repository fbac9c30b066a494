import { gzipSync, zstdCompressSync } from 'node:zlib'

/** What a relay may write. All that Kafka knows is read (`inflate.ts`). */
export type Compression = 'none' | 'gzip' | 'zstd'

/** The compressed bytes, or undefined for 'none'. */
export function compress(compression: Compression, bytes: Buffer): Buffer | undefined {
  switch (compression) {
    case 'none':
      return undefined
    case 'gzip':
      return gzipSync(bytes)
    case 'zstd':
      return zstdCompressSync(bytes)
  }
}
