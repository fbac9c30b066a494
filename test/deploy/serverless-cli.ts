import { join } from 'node:path'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import { runCommand } from '../../lib/local/command.ts'

export const root = join(import.meta.dirname, '..', '..')
const program = join(root, 'node_modules', 'serverless', 'bin', 'serverless.js')

/** Nothing of the account that whoever runs this may have. */
const withoutAws = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')))

export interface ServerlessRun {
  readonly args: readonly string[]
  readonly cwd: string
  /** Without one there are no credentials and no account either. */
  readonly at?: AwsEndpoint
  readonly signal: AbortSignal
}

/** Runs the Serverless CLI to its end. @throws Error with all that it printed, unless it succeeds */
export async function serverless({ args, cwd, at, signal }: ServerlessRun): Promise<void> {
  const env = {
    ...withoutAws(),
    AWS_EC2_METADATA_DISABLED: 'true',
    SLS_NOTIFICATIONS_MODE: 'off',
    ...(at && emulated(at)),
  }
  const { code, output } = await runCommand(process.execPath, [program, ...args], { cwd, env, signal })
  if (code !== 0) throw new Error(`serverless ${args.join(' ')} in ${cwd} failed:\n${output}`)
}

const emulated = ({ endpoint, region, credentials }: AwsEndpoint): NodeJS.ProcessEnv => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})
