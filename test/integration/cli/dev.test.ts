import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, test, vi } from 'vitest'
import { localAwsEndpoint } from '../../../lib/local/aws-endpoint.ts'
import { close, listen } from '../../../lib/local/http-server.ts'
import { brokersSeenAt } from '../../../lib/local/kafka-probe.ts'
import { portIsFree } from '../../../lib/local/ports.ts'
import type { CliRun } from '../../helpers/cli.ts'
import { cliRuns } from '../../helpers/cli-runs.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'

const commands = cliRuns('dev')

interface Addresses {
  readonly pid: number
  readonly brokers: readonly string[]
  readonly dynamoDb: string
  readonly fenceTable: string
}

const dev = (args: readonly string[], env: NodeJS.ProcessEnv = {}): CliRun => commands.start(['dev', ...args], env)

const addressesOf = async (run: CliRun): Promise<Addresses> => JSON.parse(await run.firstLine) as Addresses
const portOf = (address: string | undefined): number => Number(address?.split(':').at(-1))

test('prints where Kafka and the fence table serve; a second start is refused with its pid; Ctrl-C stops all of it', async () => {
  const run = dev(['--json'])
  const { pid, brokers, dynamoDb, fenceTable } = await addressesOf(run)
  const port = portOf(brokers[0])
  expect(await brokersSeenAt(port)).toEqual([1])
  const client = new DynamoDBClient(localAwsEndpoint(portOf(dynamoDb)))
  const { Table } = await client.send(new DescribeTableCommand({ TableName: fenceTable }))
  client.destroy()
  expect(Table?.TableStatus).toBe('ACTIVE')

  const second = await dev([]).ended
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`is in use by process ${pid}`)

  run.child.kill('SIGINT')
  run.child.kill('SIGINT')
  expect((await run.ended).code).toBe(0)
  expect(await portIsFree(port)).toBe(true)
  expect(await portIsFree(portOf(dynamoDb))).toBe(true)
})

test('after SIGKILL nothing is left, and the next start takes the lock and the data over', async () => {
  const run = dev(['--json'])
  await addressesOf(run)
  run.child.kill('SIGKILL')
  await run.ended
  await commands.untilNothingLeft(5_000)
  const next = dev(['--json'])
  expect((await addressesOf(next)).brokers).toHaveLength(1)
  next.child.kill('SIGTERM')
  expect((await next.ended).code).toBe(0)
})

test('Ctrl-C in the middle of a start stops what was started', async () => {
  const run = dev(['--json', '--fresh'])
  await vi.waitFor(() => access(join(commands.dir, 'logs', 'kafka-1.log')), { timeout: 30_000, interval: 10 })
  run.child.kill('SIGINT')
  const { code, stdout, stderr } = await run.ended
  expect(code).toBe(130)
  expect(stderr).toContain('interrupted by SIGINT')
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'INTERRUPTED' })
})

test('--brokers uses a cluster that exists and starts none', async () => {
  const shared = await kafkaBrokers('3.9')
  const run = dev(['--json', '--brokers', shared.join(',')], { PATH: commands.dir, JAVA_HOME: commands.dir })
  expect((await addressesOf(run)).brokers).toEqual(shared)
  run.child.kill('SIGINT')
  expect((await run.ended).code).toBe(0)
})

test('without Java it says what to install', async () => {
  const { code, stderr } = await dev([], { PATH: commands.dir, JAVA_HOME: '' }).ended
  expect(code).toBe(1)
  expect(stderr).toContain('No java on PATH; Kafka needs Java 17 or later. Install it')
})

test('a taken port is named', async () => {
  const squatter = createServer()
  const port = await listen(squatter, 'a squatter')
  try {
    for (const option of ['--kafka-port', '--dynamodb-port', '--s3-port']) {
      const { code, stderr } = await dev([option, String(port)]).ended
      expect(code).toBe(1)
      expect(stderr).toContain(`Port ${port} on 127.0.0.1 is taken`)
    }
  } finally {
    await close(squatter)
  }
})
