import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { rounded } from './statistics.ts'

/** Where and with what a benchmark ran: figures without it say nothing. */
export interface Machine {
  readonly at: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  /** Processes that wanted a core when it began, by one minute: above `cores` others were at work too. */
  readonly loadBefore: number
  readonly platform: string
  readonly node: string
  readonly kafka: KafkaVersion
  readonly kafkajs: string
  readonly command: string
}

export function describeMachine(kafka: KafkaVersion, args: readonly string[]): Machine {
  return {
    at: new Date().toISOString(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: rounded(totalmem() / 2 ** 30, 1),
    loadBefore: rounded(loadavg()[0] ?? Number.NaN, 1),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    kafka,
    kafkajs: versionOf('kafkajs'),
    command: ['npm run bench --', ...args].join(' '),
  }
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '..', 'node_modules', name, 'package.json')
  return String(JSON.parse(readFileSync(file, 'utf8')).version)
}
