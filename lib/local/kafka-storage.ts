import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { RelayError } from '../errors.ts'
import { lastLines, runCommand } from './command.ts'
import { type KafkaNodePlan, kafkaProperties, quickJvmFlags } from './kafka-config.ts'

export interface StorageOptions {
  /** Of the cluster. */
  readonly dataDir: string
  readonly config?: Readonly<Record<string, string>>
  readonly env?: NodeJS.ProcessEnv
  readonly signal?: AbortSignal
  readonly java: string
  readonly classPath: string
}

export const nodeDataDir = (dataDir: string, id: number): string => resolve(dataDir, `node-${id}`, 'data')

export const propertiesFile = (plan: KafkaNodePlan): string => join(plan.dataDir, '..', 'server.properties')

/**
 * Writes each node's properties and formats its storage unless it is formatted already.
 * @throws RelayError LOCAL_STACK with what Kafka's storage tool says.
 */
export async function prepareStorage(plans: readonly KafkaNodePlan[], options: StorageOptions): Promise<void> {
  const clusterId = (await clusterIdOf(options.dataDir)) || newClusterId()
  await Promise.all(
    plans.map(async (plan) => {
      await mkdir(plan.dataDir, { recursive: true })
      await writeFile(propertiesFile(plan), kafkaProperties(plan, plans, options.config))
      await format(plan, clusterId, options)
    }),
  )
}

/** Empty as long as nothing is formatted. */
export async function clusterIdOf(dataDir: string): Promise<string> {
  const meta = await readFile(join(nodeDataDir(dataDir, 1), 'meta.properties'), 'utf8').catch(() => '')
  return /^cluster\.id=(.+)$/m.exec(meta)?.[1] ?? ''
}

/** A Kafka UUID; none begins with a dash, which tools take for an option. */
const newClusterId = (): string => randomBytes(16).toString('base64url').replace(/^-/, 'A')

async function format(plan: KafkaNodePlan, clusterId: string, options: StorageOptions): Promise<void> {
  const tool = ['-Xmx128m', ...quickJvmFlags, '-cp', options.classPath, 'kafka.tools.StorageTool']
  const args = ['format', '--ignore-formatted', '-t', clusterId, '-c', propertiesFile(plan)]
  const { code, output } = await runCommand(options.java, [...tool, ...args], options)
  if (code === 0) return
  throw new RelayError(
    'LOCAL_STACK',
    `Kafka cannot use ${plan.dataDir} (its storage tool exited with ${code}). If its data may go, delete that directory.\n${lastLines(output, 8)}`,
  )
}
