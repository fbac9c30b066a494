import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runCommand } from '../../lib/local/command.ts'

export const checkout = join(import.meta.dirname, '..', '..')

/** A folder of somebody who has never seen this checkout, with the service that `fencepost init my-relay` makes. */
export class Service {
  readonly folder: string
  readonly #parent: string

  private constructor(parent: string) {
    this.#parent = parent
    this.folder = join(parent, 'my-relay')
  }

  static async make(): Promise<Service> {
    const service = new Service(await mkdtemp(join(tmpdir(), 'fencepost-init-')))
    await service.#run(join(checkout, 'bin', 'fencepost.mjs'), ['init', 'my-relay'], service.#parent)
    return service
  }

  /** Runs a command in it to its end. Answers what it printed. @throws Error with that, unless it succeeds */
  run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    return this.#run(command, args, this.folder, env)
  }

  /** The jars of this checkout, so that `fencepost dev` needs not fetch them again. */
  async lendKafka(): Promise<void> {
    await mkdir(join(this.folder, '.fencepost'))
    await symlink(join(checkout, '.fencepost', 'kafka'), join(this.folder, '.fencepost', 'kafka'))
  }

  async remove(): Promise<void> {
    await rm(this.#parent, { recursive: true, force: true })
  }

  async #run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { code, output } = await runCommand(command, args, { cwd, env: { ...environment, ...env } })
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`)
    return output
  }
}

/** Nothing of this checkout on the path, no settings of the npm and the vitest that run this, no account. */
export const environment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env)
    .filter(([name]) => !/^(npm_|AWS_|NODE_|VITEST|TEST$)/i.test(name))
    .map(([name, value]) => [name, name === 'PATH' ? outside(value ?? '') : value]),
)

function outside(path: string): string {
  return path
    .split(delimiter)
    .filter((dir) => !dir.startsWith(checkout))
    .join(delimiter)
}
