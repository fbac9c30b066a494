import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { inflateLz4Frames } from './lz4.ts'
import { OutputLimitError } from './output.ts'
import { inflateSnappy } from './snappy.ts'

/** All compressions that a record batch may have. */
export type CompressionName = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/**
 * The bytes behind `compressed`, at most `maxBytes`.
 * @throws OutputLimitError beyond that; any other Error when the input is malformed.
 */
export function inflate(compression: CompressionName, compressed: Buffer, maxBytes: number): Buffer {
  switch (compression) {
    case 'none':
      return compressed
    case 'gzip':
      return bounded(maxBytes, () => gunzipSync(compressed, { maxOutputLength: maxBytes }))
    case 'zstd':
      return bounded(maxBytes, () => zstdDecompressSync(compressed, { maxOutputLength: maxBytes }))
    case 'snappy':
      return inflateSnappy(compressed, maxBytes)
    case 'lz4':
      return inflateLz4Frames(compressed, maxBytes)
  }
}

function bounded(maxBytes: number, decompress: () => Buffer): Buffer {
  try {
    return decompress()
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new OutputLimitError(maxBytes)
    }
    throw error
  }
}
