import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RelayError } from '../errors.ts'

/** Makes the folder, or takes an empty one. @throws RelayError CONFIG_INVALID naming what is there: nothing is ever overwritten */
export async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new RelayError('CONFIG_INVALID', `${folder} cannot be made: ${cause.message}; choose another folder`, {
      cause,
    })
  })
  const there = (await readdir(folder)).filter((name) => name !== '.git')
  if (there.length === 0) return
  const some = there.slice(0, 3).join(', ')
  throw new RelayError(
    'CONFIG_INVALID',
    `${folder} holds ${there.length} files (${some}), wanted a new or empty folder: nothing is overwritten; choose another one`,
  )
}

/** Writes files that do not exist yet. */
export async function writeService(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, content] of files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content, { flag: 'wx' })
  }
}
