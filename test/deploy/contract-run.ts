import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import { lastLines, runCommand } from '../../lib/local/command.ts'
import { type Count, countOf, isVitestReport } from '../../scripts/test-count.ts'
import { root } from './serverless-cli.ts'

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

export interface ContractRunOptions {
  readonly at: AwsEndpoint
  readonly table: string
  readonly dir: string
  readonly signal: AbortSignal
  say(line: string): void
}

/** The contract suite of fence stores, on a table that was deployed. What fails is told. */
export async function runContract({ at, table, dir, signal, say }: ContractRunOptions): Promise<Count> {
  const report = join(dir, 'contract.json')
  await rm(report, { force: true })
  const env = {
    ...process.env,
    DEPLOYED_TABLE: table,
    DEPLOYED_ENDPOINT: at.endpoint,
    AWS_REGION: at.region,
    AWS_ACCESS_KEY_ID: at.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: at.credentials.secretAccessKey,
  }
  const args = [vitest, 'run', '--project', 'deploy', '--reporter=json', `--outputFile=${report}`]
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, env, signal })
  const found: unknown = JSON.parse(await readFile(report, 'utf8').catch(() => 'null'))
  const count = isVitestReport(found) ? countOf(found, code ?? 1, false) : { passed: 0, failed: 1 }
  if (count.failed > 0) say(lastLines(output, 30))
  return count
}
