/**
 * `npm test`: every stage in order, each with its time; all run even when one fails. `npm test -- unit` runs one;
 * further arguments go to vitest. Contract suites run in the unit stage on in-memory adapters and in the integration
 * stage on real ones. The last line counts tests, and each static stage as one.
 */
import { spawn } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Count, countOf, isVitestReport } from './test-count.ts'

const root = join(import.meta.dirname, '..')
const nodeMajor = Number(process.versions.node.split('.')[0])
if (nodeMajor < 24) throw new Error(`Tests run on Lambda's Node 24; this is ${process.versions.node}. Use npm test.`)

const stages: Record<string, (args: readonly string[]) => Promise<Count>> = {
  lint: () => script('lint'),
  types: () => script('types'),
  imports: () => script('imports'),
  unit: (args) => vitest('unit', args),
  integration: (args) => vitest('integration', args),
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

async function script(name: string): Promise<Count> {
  const code = await run('npm', ['run', '--silent', name])
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function vitest(project: string, args: readonly string[]): Promise<Count> {
  const report = join(root, '.fencepost', 'test', `${project}.json`)
  await mkdir(join(root, '.fencepost', 'test'), { recursive: true })
  await rm(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const code = await run('vitest', ['run', '--project', project, ...reporters, ...args])
  const found: unknown = JSON.parse(await readFile(report, 'utf8').catch(() => 'null'))
  return isVitestReport(found) ? countOf(found, code, args.length > 0) : { passed: 0, failed: 1 }
}

const [only, ...args] = process.argv.slice(2)
if (only !== undefined && !(only in stages)) {
  console.error(`Unknown stage "${only}"; give one of ${Object.keys(stages).join(', ')}, or none for all.`)
  process.exit(1)
}

const total = { passed: 0, failed: 0 }
const lines: string[] = []
for (const [name, stage] of Object.entries(stages)) {
  if (only !== undefined && name !== only) continue
  const startedAt = performance.now()
  const { passed, failed } = await stage(args)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  lines.push(`${failed === 0 ? '✓' : '✗'} ${name.padEnd(12)} ${passed} passed, ${failed} failed  ${seconds} s`)
  total.passed += passed
  total.failed += failed
}
console.log(`\n${lines.join('\n')}\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
