import { createHash } from 'node:crypto'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayError } from '../../lib/errors.ts'
import { type CommandResult, lastLines, runCommand } from '../../lib/local/command.ts'

const requirements = join(import.meta.dirname, 'requirements.txt')

export interface PythonOptions {
  /** Where the virtual environment is kept. */
  readonly dir: string
  readonly signal: AbortSignal
  say(line: string): void
}

/**
 * A virtual environment with what requirements.txt pins, made once. Answers the folder of its programs.
 * @throws RelayError LOCAL_STACK when Python or its venv module is missing and cannot be installed
 */
export async function pythonPrograms({ dir, signal, say }: PythonOptions): Promise<string> {
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
  const marker = join(dir, 'requirements.sha256')
  const programs = join(dir, 'bin')
  if ((await readFile(marker, 'utf8').catch(() => '')) === wanted) return programs
  say('installing moto and cfn-lint from PyPI (300 MB)')
  await rm(dir, { recursive: true, force: true })
  await makeEnvironment(dir, signal)
  const pip = await runCommand(join(programs, 'python'), ['-m', 'pip', 'install', '--quiet', '-r', requirements], {
    signal,
  })
  if (pip.code !== 0) throw failed('The packages of test/deploy/requirements.txt cannot be installed', pip)
  await writeFile(marker, wanted)
  return programs
}

async function makeEnvironment(dir: string, signal: AbortSignal): Promise<void> {
  const make = () => runCommand('python3', ['-m', 'venv', dir], { signal })
  const first = await make()
  if (first.code === 0) return
  if (!(await installVenv(signal)))
    throw failed('python3 -m venv does not work; install python3 and python3-venv', first)
  await rm(dir, { recursive: true, force: true })
  const second = await make()
  if (second.code !== 0) throw failed('python3 -m venv does not work although python3-venv is installed', second)
}

/** On Debian and Ubuntu, as root; elsewhere it is left to the user. */
async function installVenv(signal: AbortSignal): Promise<boolean> {
  const isDebian = await access('/usr/bin/apt-get').then(
    () => true,
    () => false,
  )
  if (!isDebian || process.getuid?.() !== 0) return false
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await runCommand('apt-get', ['update', '-qq'], { env, signal })
  const { code } = await runCommand('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-venv'], {
    env,
    signal,
  })
  return code === 0
}

const failed = (what: string, { output }: CommandResult): RelayError =>
  new RelayError('LOCAL_STACK', `${what}.\n${lastLines(output, 10)}`)
