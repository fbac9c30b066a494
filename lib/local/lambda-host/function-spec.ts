import { RelayError } from '../../errors.ts'

export interface DeployOptions {
  readonly name: string
  /** What runs: a folder with a finished bundle, or an entry file that is bundled first. */
  readonly code: { readonly bundleDir: string } | { readonly entry: string }
  /** Module and export, for example `relay.handler`. */
  readonly handler: string
  /** Default 512. Also sets the heap limits of the process, as Lambda does (node-flags.ts). */
  readonly memoryMb?: number
  /** Default 30 s. */
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
  /** Invocations at once; further ones are refused with 429. Default 10. */
  readonly maxConcurrency?: number
  /** Sends each invocation to another container than the last one. Default false: the most recently used first. */
  readonly hop?: boolean
  /** Grows with each deploy of a name; becomes FENCEPOST_GENERATION. Default: one more than the last. */
  readonly generation?: number
}

/** A deployed function, everything decided. */
export interface FunctionSpec {
  readonly name: string
  readonly taskRoot: string
  readonly handler: string
  readonly memoryMb: number
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  readonly maxConcurrency: number
  readonly hop: boolean
  readonly generation: number
  readonly region: string
  readonly arn: string
}

const accountId = '000000000000'

/** @throws RelayError CONFIG_INVALID: Lambda's own bounds, so that a deploy would not fail later. */
export function functionSpec(
  options: DeployOptions,
  taskRoot: string,
  region: string,
  generation: number,
): FunctionSpec {
  const spec: FunctionSpec = {
    name: options.name,
    taskRoot,
    handler: options.handler,
    memoryMb: within('memoryMb', options.memoryMb ?? 512, 128, 10_240),
    timeoutMs: within('timeoutMs', options.timeoutMs ?? 30_000, 1, 900_000),
    env: options.env ?? {},
    maxConcurrency: within('maxConcurrency', options.maxConcurrency ?? 10, 1, 1_000),
    hop: options.hop ?? false,
    generation,
    region,
    arn: `arn:aws:lambda:${region}:${accountId}:function:${options.name}`,
  }
  if (!/^[\w-]{1,64}$/.test(spec.name)) throw refused('name', spec.name, '1 to 64 letters, digits, dashes, underscores')
  if (!/^[^.]+(\.[^.]+)+$/.test(spec.handler))
    throw refused('handler', spec.handler, "module and export, as 'relay.handler'")
  return spec
}

function within(field: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max)
    throw refused(field, value, `a whole number, ${min} to ${max}`)
  return value
}

const refused = (field: string, found: unknown, wanted: string): RelayError =>
  new RelayError('CONFIG_INVALID', `function ${field} is ${JSON.stringify(found)}; wanted ${wanted}.`)

/** The environment of a container as Lambda makes it; the user's variables win except where Lambda reserves the name. */
export function containerEnv(spec: FunctionSpec, runtimeApi: string, logStream: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    FENCEPOST_GENERATION: String(spec.generation),
    ...spec.env,
    _HANDLER: spec.handler,
    LAMBDA_TASK_ROOT: spec.taskRoot,
    AWS_REGION: spec.region,
    AWS_DEFAULT_REGION: spec.region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${spec.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: logStream,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
  }
}
