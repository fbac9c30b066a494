/**
 * `npm run test:init`: what somebody does who has never seen this checkout. Packs it, makes a service from the packed
 * package, tests, packages, deploys and runs it there. Apart from `npm test`, because npm installs some 300 packages.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { minutes, seconds } from '../../lib/units.ts'
import { countOf, holdings } from '../deploy/account.ts'
import { startMoto } from '../deploy/moto.ts'
import { pythonPrograms } from '../deploy/python.ts'
import { runProcess } from '../helpers/cli.ts'
import { clusterAt } from '../helpers/kafka-client.ts'
import { produce } from '../helpers/producing.ts'
import { readCommitted } from '../helpers/read-committed.ts'
import { checkout, environment, Service } from './service.ts'

const installingMs = minutes(8)
const workingMs = minutes(3)
const deployingMs = minutes(10)

let service: Service
beforeAll(async () => {
  service = await Service.make()
}, installingMs)
afterAll(() => service?.remove())

test('init and npm test: green, right after each other', { timeout: workingMs }, async () => {
  expect(await service.run('npm', ['test'])).toMatch(/3 passed/)
})

test('the Serverless CLI packages the service offline, one small zip a function', { timeout: workingMs }, async () => {
  await service.run('npx', ['serverless', 'package', '--stage', 'prod'])
  const packaged = join(service.folder, '.serverless')
  const zips = (await readdir(packaged)).filter((name) => name.endsWith('.zip'))
  expect(zips.toSorted()).toEqual(['my-relay-status.zip', 'my-relay-sweep.zip', 'my-relay.zip'])
  const template = await readFile(join(packaged, 'cloudformation-template-update-stack.json'), 'utf8')
  expect(template).toContain('AWS::Lambda::EventSourceMapping')
})

test('the packed command runs without the checkout, and makes the same service again', {
  timeout: workingMs,
}, async () => {
  const packed = JSON.parse(await readFile(join(service.folder, 'package.json'), 'utf8')).dependencies.fencepost
  const args = ['init', 'again', '--relay', 'my-relay', '--no-install', '--package', packed, '--json']
  const said = await service.run('npx', ['fencepost', ...args])
  const made: { readonly files: readonly string[] } = JSON.parse(said.trim().split('\n').at(-1) ?? '')
  expect(made.files).toContain('serverless.yml')
  for (const file of made.files) {
    const again = await readFile(join(service.folder, 'again', file), 'utf8')
    const first = await readFile(join(service.folder, file), 'utf8')
    expect(again.replaceAll('again', 'my-relay'), file).toBe(first)
  }
})

test('a folder that holds something is left alone', { timeout: seconds(30) }, async () => {
  await expect(service.run('npx', ['fencepost', 'init', '.'])).rejects.toThrow(/wanted a new or empty folder/)
})

test('it runs: fencepost dev of the package relays orders with a real Kafka, and leaves on Ctrl-C', {
  timeout: workingMs,
}, async () => {
  await service.lendKafka()
  const args = ['dev', '--json', '--relay', 'relays/my-relay.ts', '--create-topics', '1']
  const command = join(service.folder, 'node_modules', '.bin', 'fencepost')
  const run = runProcess(command, args, environment, service.folder)
  try {
    const { brokers } = JSON.parse(await run.firstLine)
    const order = JSON.stringify({ id: 'a', customer: 'ann', total: 100 })
    await produce(brokers, 'orders', [{ value: order }, { value: 'no order' }])
    expect(await valuesOf(brokers, 'orders.accepted')).toEqual([order])
    expect(await valuesOf(brokers, 'orders.large')).toEqual([JSON.stringify({ id: 'a', customer: 'ann' })])
    expect(await valuesOf(brokers, 'orders.dead')).toEqual(['no order'])
  } finally {
    run.child.kill('SIGINT')
    expect((await run.ended).code).toBe(0)
  }
})

test('it deploys and is removed again, into an account that is a model', { timeout: deployingMs }, async () => {
  const dir = join(checkout, '.fencepost', 'deploy-test')
  const signal = AbortSignal.timeout(deployingMs)
  const programs = await pythonPrograms({ dir: join(dir, 'venv'), signal, say: () => undefined })
  const moto = await startMoto(join(programs, 'python'), join(dir, 'moto-init.log'), signal)
  try {
    const account = {
      AWS_ENDPOINT_URL: moto.endpoint,
      AWS_REGION: moto.region,
      AWS_ACCESS_KEY_ID: moto.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: moto.credentials.secretAccessKey,
    }
    const before = countOf(await holdings(moto))
    await service.run('npx', ['serverless', 'deploy'], account)
    const { functions, mappings, names } = await holdings(moto)
    const deployed = functions.map(({ FunctionName }) => FunctionName)
    expect(deployed).toEqual(
      expect.arrayContaining(['my-relay-dev-my-relay', 'my-relay-dev-my-relay-status', 'my-relay-dev-my-relay-sweep']),
    )
    expect(mappings).toHaveLength(1)
    expect(names['AWS::DynamoDB::Table']).toEqual(['my-relay-dev-fences'])
    await service.run('npx', ['serverless', 'remove'], account)
    expect(countOf(await holdings(moto))).toBe(before)
  } finally {
    await moto.stop()
  }
})

/** All of a topic with one partition, once there is anything. */
async function valuesOf(brokers: readonly string[], topic: string): Promise<readonly string[]> {
  const cluster = clusterAt(brokers)
  try {
    return await vi.waitFor(
      async () => {
        const values = await readCommitted(cluster, topic, 1)
        expect(values).not.toHaveLength(0)
        return values
      },
      { timeout: seconds(30), interval: 100 },
    )
  } finally {
    await cluster.close()
  }
}
