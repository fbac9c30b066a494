/**
 * Stands in for Lambda's runtime: loads the bundle as it is uploaded and gives its handler the event that woke it; then one
 * event for each line of stdin. Its own share is an import and a JSON.parse.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { lambdaContext } from '../ours/lambda-context.ts'
import { cpuMs, report } from './report.ts'

export interface FunctionReport {
  /** Import of the bundle; 0 for a warm one. */
  readonly loadMs: number
  /** From the call of the handler to its answer: the commit is before it, the release of the fence too. */
  readonly handleMs: number
  /** Of the process so far. */
  readonly cpuMs: number
}

const [bundle = '', firstEvent = ''] = process.argv.slice(2)
const beganMs = performance.now()
const { handler } = await import(pathToFileURL(bundle).href)
const loadMs = performance.now() - beganMs
await handle(readFileSync(firstEvent, 'utf8'), loadMs)
for await (const line of createInterface({ input: process.stdin })) await handle(line, 0)

async function handle(event: string, loadMs: number): Promise<void> {
  const calledMs = performance.now()
  await handler(JSON.parse(event), lambdaContext())
  report({ loadMs, handleMs: performance.now() - calledMs, cpuMs: cpuMs() } satisfies FunctionReport)
}
