import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { bundleRelay, type Trigger as Entry } from '../lib/local/bundle.ts'
import { refuseIfAny } from '../lib/problems.ts'
import { mebibytes } from '../lib/units.ts'

/** A cold start reads the whole zip. */
const zipBytesMax = mebibytes(1)
/** The earliest date that a zip can carry: the same code gives the same bytes, and is not deployed again. */
const noDate = new Date(1980, 0, 1)
/** A regular file that everybody may read: Lambda runs functions as a user of its own. */
const attributes = { os: 3, attrs: 0o100644 << 16 }

/**
 * Bundles a relay behind one of its functions, exactly as the local Lambda host runs it, into a zip of modules: no
 * packages beside them, no native file, no source map.
 * @throws RelayError CONFIG_INVALID
 */
export async function writeArtifact(module: string, entry: Entry, zipFile: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-bundle-'))
  try {
    await bundleRelay(module, entry, dir)
    const zip = zipSync(await filesIn(dir), { mtime: noDate, level: 9 })
    refuseIfAny(`the bundle of ${module}`, zip.length <= zipBytesMax ? [] : [tooLarge(zip.length)])
    await mkdir(dirname(zipFile), { recursive: true })
    await writeFile(zipFile, zip)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** In the order of their names: the order in which a folder lists them is chance. */
async function filesIn(dir: string): Promise<Zippable> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  const files: Zippable = {}
  for (const path of paths.sort()) {
    files[relative(dir, path).replaceAll(sep, '/')] = [await readFile(path), attributes]
  }
  return files
}

const tooLarge = (bytes: number) => ({
  path: 'zip',
  found: `${bytes.toLocaleString('en')} bytes`,
  wanted: `at most ${zipBytesMax.toLocaleString('en')}: a cold start reads all of it`,
  fix: 'import less in the relay, or only the parts of a package that it uses',
})
