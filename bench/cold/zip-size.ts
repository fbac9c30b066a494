import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { deflateRawSync } from 'node:zlib'

/** Local header and central directory entry of a file, without its name twice; end record (PKWARE APPNOTE 4.3). */
const bytesPerFile = 30 + 46
const endBytes = 22

/** How large a zip with the files of this folder is, at the level that packagers use. */
export async function zipBytesOf(dir: string): Promise<number> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const sizes = await Promise.all(
    files.map(async (file) => {
      const content = deflateRawSync(await readFile(file), { level: 9 })
      return bytesPerFile + 2 * Buffer.byteLength(relative(dir, file)) + content.length
    }),
  )
  return sizes.reduce((sum, size) => sum + size, endBytes)
}
