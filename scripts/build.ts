/**
 * `npm run build`: what the npm package holds, as JavaScript in dist/. Node strips types from no file in node_modules.
 * The folders keep their places, because the bundler and the local stack find functions and poms by them.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const poms = join('infra', 'local')

rmSync(dist, { recursive: true, force: true })
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const args = [compiler, '-p', 'tsconfig.build.json', ...process.argv.slice(2)]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
cpSync(join(root, poms), join(dist, poms), { recursive: true })
process.exitCode = status ?? 1
