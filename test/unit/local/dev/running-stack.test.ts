import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findRunningStack, noteRunningStack, type RunningStack } from '../../../../lib/local/dev/running-stack.ts'

const stack: RunningStack = {
  pid: process.pid,
  brokers: ['127.0.0.1:9092'],
  ownBrokers: true,
  dynamoDb: 'http://127.0.0.1:8000',
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  table: 'fences',
  s3: 'http://127.0.0.1:9000',
  bucket: 'snapshots',
  prefix: 'dev',
  relays: ['/relays/delays.ts'],
  transactionTimeoutMs: 70_000,
}

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-running-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

test('a stack that runs is found by its directory, until it takes its note away', async () => {
  const dir = await directory()
  expect(await findRunningStack(dir)).toBeNull()
  const forget = await noteRunningStack(dir, stack)
  expect(await findRunningStack(dir)).toEqual(stack)
  await forget()
  expect(await findRunningStack(dir)).toBeNull()
  expect(await readdir(dir)).toEqual([])
})

test('what a killed one left behind, or somebody else wrote there, counts as none', async () => {
  const dir = await directory()
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  await noteRunningStack(dir, { ...stack, pid })
  expect(await findRunningStack(dir)).toBeNull()
  await writeFile(join(dir, 'running.json'), '{"pid": 1}')
  expect(await findRunningStack(dir)).toBeNull()
  await writeFile(join(dir, 'running.json'), 'no json')
  expect(await findRunningStack(dir)).toBeNull()
})
