import { nodeFlags } from '../lib/local/lambda-host/node-flags.ts'
import { type Subject, startSubject } from './subject.ts'
import type { Surroundings } from './surroundings.ts'

const modules = { relay: 'ours/relay-subject.ts', kafkajs: 'peers/kafkajs-subject.ts' }
const functionMemoryMb = 512

export interface Job {
  /** Of the process: for its log and errors. */
  readonly name: string
  readonly source: string
  readonly output: string
  /** Transactional ids and group begin with it. */
  readonly prefix: string
}

/** Our relay runs with the heap that Lambda gives a function of 512 MB, kafkajs with as much as Node likes. */
export function startContender(
  kind: keyof typeof modules,
  job: Job,
  { env, dir }: Surroundings,
  signal: AbortSignal,
): Promise<Subject> {
  return startSubject({
    name: job.name,
    module: modules[kind],
    nodeFlags: kind === 'relay' ? nodeFlags(functionMemoryMb) : [],
    dir,
    env: {
      ...env,
      BENCH_SOURCE: job.source,
      BENCH_OUTPUT: job.output,
      BENCH_NAME: job.prefix,
      FENCEPOST_PREFIX: job.prefix,
    },
    signal,
  })
}
