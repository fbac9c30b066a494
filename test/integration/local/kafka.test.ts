import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deadlineIn, systemClock } from '../../../lib/clock.ts'
import { startKafka } from '../../../lib/local/kafka.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { brokersSeenAt } from '../../../lib/local/kafka-probe.ts'
import { freePorts, portIsFree } from '../../../lib/local/ports.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-kafka-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = deadlineIn(systemClock, withinMs)
  while (!condition() && deadline.remainingMs() > 0) await systemClock.sleep(10)
  return condition()
}

describe.each(kafkaVersions)('Kafka %s', (version) => {
  test('serves when start resolves, comes back after SIGKILL on the same port, keeps its cluster id, and stops', async () => {
    const dataDir = join(dir, version)
    const kafka = await startKafka({ version, dataDir })
    const node = kafka.nodes[0]
    if (!node) throw new Error('no node')
    expect(await brokersSeenAt(node.port)).toEqual([1])

    const firstPid = node.pid
    await node.kill('SIGKILL')
    expect(alive(firstPid)).toBe(false)
    expect(await brokersSeenAt(node.port)).toEqual([])
    await node.restart()
    expect(node.pid).not.toBe(firstPid)
    expect(await brokersSeenAt(node.port)).toEqual([1])

    await kafka.stop()
    expect(alive(node.pid)).toBe(false)
    expect(await portIsFree(node.port)).toBe(true)
    const again = await startKafka({ version, dataDir })
    await again.stop()
    expect(again.clusterId).toBe(kafka.clusterId)
  })
})

test('three nodes see each other when start resolves', { timeout: 120_000 }, async () => {
  const kafka = await startKafka({ version: '4.1', nodes: 3, dataDir: join(dir, 'three'), heapMb: 384 })
  try {
    for (const { port } of kafka.nodes) expect([...(await brokersSeenAt(port))].sort()).toEqual([1, 2, 3])
  } finally {
    await kafka.stop()
  }
})

test('a broker is gone soon after its parent got SIGKILL', async () => {
  const script = join(import.meta.dirname, '..', '..', 'helpers', 'kafka-parent.ts')
  const parent = spawn(process.execPath, [script, join(dir, 'orphan')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const brokerPid = Number(line.toString())
  expect(alive(brokerPid)).toBe(true)
  parent.kill('SIGKILL')
  expect(await until(() => !alive(brokerPid), 5_000)).toBe(true)
})

test('a taken port is named before anything is started', async () => {
  const [port = 0] = await freePorts(1)
  const squatter = createServer().listen(port, '127.0.0.1')
  await once(squatter, 'listening')
  try {
    const start = startKafka({ version: '4.1', dataDir: join(dir, 'taken'), ports: [port] })
    await expect(start).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`)
  } finally {
    squatter.close()
  }
})

test('a configuration that Kafka refuses is quoted', async () => {
  const config = { 'log.retention.hours': 'a while' }
  const start = startKafka({ version: '4.1', dataDir: join(dir, 'refused'), config })
  await expect(start).rejects.toThrow(/Invalid value a while for configuration log.retention.hours/)
})

test('a broker that exits while starting is reported with the reason from its log', async () => {
  const start = startKafka({ version: '4.1', dataDir: join(dir, 'exits'), jvmFlags: ['-XX:+NoSuchFlag'] })
  await expect(start).rejects.toThrow(/Kafka node 1 exited while starting.*NoSuchFlag/s)
})

test('data that a running cluster uses is refused with the pid that uses it', async () => {
  const dataDir = join(dir, 'shared')
  const kafka = await startKafka({ version: '4.1', dataDir })
  try {
    await expect(startKafka({ version: '4.1', dataDir })).rejects.toThrow(`is in use by process ${process.pid}`)
  } finally {
    await kafka.stop()
  }
})

test('verification of transaction partitions stays on and topics are not made by accident', async () => {
  const kafka = await startKafka({ version: '4.1', dataDir: join(dir, 'safe') })
  await kafka.stop()
  const properties = await readFile(join(dir, 'safe', 'node-1', 'server.properties'), 'utf8')
  expect(properties).toContain('auto.create.topics.enable=false')
  expect(properties).not.toContain('transaction.partition.verification.enable')
})
