import { access, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { RelayError } from '../errors.ts'
import { lastLines, runCommand } from '../local/command.ts'

/** The package that this code belongs to. */
export interface OwnPackage {
  readonly root: string
  readonly version: string
  /** Exact versions of everything it was tested with. */
  readonly tested: Readonly<Record<string, string>>
  /** Sources and not the published package: npm cannot fetch this version. */
  readonly isCheckout: boolean
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

export async function ownPackage(): Promise<OwnPackage> {
  const { root, manifest } = await nearestManifest(import.meta.dirname)
  const isCheckout = await access(join(root, 'lib', 'init', 'own-package.ts')).then(
    () => true,
    () => false,
  )
  return {
    root,
    version: manifest.version,
    tested: { ...manifest.dependencies, ...manifest.devDependencies },
    isCheckout,
  }
}

/** Both `lib/init` and `dist/lib/init` lie under it. */
async function nearestManifest(dir: string): Promise<{ readonly root: string; readonly manifest: Manifest }> {
  const text = await readFile(join(dir, 'package.json'), 'utf8').catch(() => null)
  return text === null ? nearestManifest(dirname(dir)) : { root: dir, manifest: JSON.parse(text) as Manifest }
}

/**
 * Packs a checkout into `folder` as npm would publish it. Answers the file's name.
 * @throws RelayError CONFIG_INVALID with npm's last lines
 */
export async function packInto(folder: string, { root }: OwnPackage, signal: AbortSignal): Promise<string> {
  const args = ['pack', '--pack-destination', folder, '--loglevel=error']
  const { code, output } = await runCommand('npm', args, { cwd: root, signal })
  const file = /\S+\.tgz$/m.exec(output)?.[0]
  if (code === 0 && file !== undefined) return basename(file)
  throw new RelayError(
    'CONFIG_INVALID',
    `this checkout cannot be packed (npm pack, exit code ${code}); mend it, or give --package.\n${lastLines(output, 15)}`,
  )
}
