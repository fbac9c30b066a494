import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrokerProcess } from '../surroundings.ts'

/** What a broker has used so far, seen from outside. */
export interface BrokerUse {
  /** User and system mode; NaN where there is no /proc. */
  readonly cpuSeconds: number
  readonly transactionStateBytes: number
  readonly consumerOffsetsBytes: number
  /** Established connections to its listener; NaN where there is no /proc. */
  readonly sockets: number
}

export async function brokerUse({ pid, port, dataDir }: BrokerProcess): Promise<BrokerUse> {
  const [cpuSeconds, transactionStateBytes, consumerOffsetsBytes, sockets] = await Promise.all([
    cpuSecondsOf(pid),
    logBytes(dataDir, '__transaction_state'),
    logBytes(dataDir, '__consumer_offsets'),
    socketsAt(pid, port),
  ])
  return { cpuSeconds, transactionStateBytes, consumerOffsetsBytes, sockets }
}

/** Segments of these topics hold 100 MB and only closed ones are compacted: until then the size is all that was written. */
async function logBytes(dataDir: string, topic: string): Promise<number> {
  const directories = (await readdir(dataDir)).filter((name) => name.replace(/-\d+$/, '') === topic)
  const sizes = await Promise.all(directories.map((name) => segmentBytes(join(dataDir, name))))
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

async function segmentBytes(directory: string): Promise<number> {
  const segments = (await readdir(directory)).filter((name) => name.endsWith('.log'))
  const sizes = await Promise.all(segments.map(async (name) => (await stat(join(directory, name))).size))
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

/** Linux counts in hundredths of a second, whatever its kernel's own clock is (man 5 proc). */
const ticksPerSecond = 100

async function cpuSecondsOf(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const afterName = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(afterName[11]) + Number(afterName[12])) / ticksPerSecond
}

async function socketsAt(pid: number, port: number): Promise<number> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')),
  )
  const lines = tables.flatMap((table) => table.split('\n').slice(1))
  return lines.length === 0 ? Number.NaN : lines.filter((line) => isEstablishedAt(line, port)).length
}

/** `sl: local remote state ...`, addresses as hex `ip:port`; state 01 is established. */
function isEstablishedAt(line: string, port: number): boolean {
  const [, local = '', , state] = line.trim().split(/\s+/)
  return state === '01' && Number.parseInt(local.split(':')[1] ?? '', 16) === port
}
