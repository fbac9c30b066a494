import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FencepostPlugin } from '../../../infra/plugin/plugin.ts'
import type { Serverless } from '../../../infra/plugin/serverless.ts'

const serviceDir = join(import.meta.dirname, '..', '..', 'deploy', 'service')
const settings = { prefix: 'shop-dev', brokers: 'localhost:9092', relays: { dotted: { latency: '5s' } } }

/** What the Serverless CLI hands to a plugin, as far as this one looks at it. */
function service(fencepost: unknown, over: Partial<Serverless['service']> = {}, dir = serviceDir): Serverless {
  return {
    serviceDir: dir,
    service: { service: 'shop', custom: { fencepost }, functions: {}, package: {}, provider: {}, ...over },
    getProvider: () => ({ getStage: () => 'dev' }),
  }
}

async function described(serverless: Serverless): Promise<readonly string[]> {
  const warnings: string[] = []
  const log = { warning: (line: string) => void warnings.push(line) }
  await new FencepostPlugin(serverless, {}, { log }).hooks.initialize?.()
  return warnings
}

test('functions and resources are added to what the service has of its own', async () => {
  const serverless = service(settings, {
    functions: { own: { handler: 'own.handler' } },
    resources: { Resources: { Queue: { Type: 'AWS::SQS::Queue' } }, Outputs: { QueueName: { Value: 'q' } } },
  })
  await described(serverless)
  const { functions, resources } = serverless.service
  expect(functions.own).toEqual({ handler: 'own.handler' })
  expect(Object.keys(functions)).toEqual(['own', 'dotted', 'dotted-sweep', 'dotted-status'])
  expect(functions.dotted).toMatchObject({ name: 'shop-dev-dotted', runtime: 'nodejs24.x', versionFunction: false })
  const { Resources, Outputs } = resources as { Resources: Record<string, unknown>; Outputs: Record<string, unknown> }
  expect(Object.keys(Resources)).toEqual(expect.arrayContaining(['Queue', 'FenceTable', 'DottedEventSourceMapping']))
  expect(Object.keys(Outputs)).toEqual(['QueueName', 'FenceTableName'])
})

test('each deployment has a higher generation than the one before, unless a number is given', async () => {
  const generationOf = async (fencepost: unknown): Promise<number> => {
    const serverless = service(fencepost)
    await described(serverless)
    const one = serverless.service.functions.dotted as { environment: Record<string, string> }
    return Number(one.environment.FENCEPOST_GENERATION)
  }
  const secondsNow = Math.floor(Date.now() / 1_000)
  expect(await generationOf(settings)).toBeGreaterThanOrEqual(secondsNow)
  expect(await generationOf({ ...settings, generation: 12 })).toBe(12)
})

test('logs are kept for as long as the deployment says, or the provider says otherwise', async () => {
  const serverless = service({ ...settings, logRetentionDays: 7 })
  await described(serverless)
  expect(serverless.service.provider).toEqual({ logRetentionInDays: 7 })
  const own = service(settings, { provider: { logRetentionInDays: 365 } })
  await described(own)
  expect(own.service.provider.logRetentionInDays).toBe(365)
})

test('topics that differ in punctuation only get mappings of their own', async () => {
  const serverless = service({ ...settings, relays: { dotted: {}, dashed: {} } })
  await described(serverless)
  const { Resources } = serverless.service.resources as {
    Resources: Record<string, { Properties: { Topics: string[] } }>
  }
  expect(Resources.DottedEventSourceMapping?.Properties.Topics).toEqual(['orders.v1'])
  expect(Resources.DashedEventSourceMapping?.Properties.Topics).toEqual(['orders-v1'])
})

test('a filter is warned of: what it lets pass by does not ring', async () => {
  const filter = [{ value: { kind: ['late'] } }]
  expect(await described(service({ ...settings, relays: { dotted: { filter } } }))).toEqual([
    expect.stringMatching(/relay dotted: .*do not ring.*sweep/),
  ])
  expect(await described(service(settings))).toEqual([])
})

test('weak topics that are accepted are warned of, in the stage in which they are', async () => {
  expect(await described(service({ ...settings, acceptWeakTopics: true }))).toEqual([
    expect.stringMatching(/acceptWeakTopics: .*stage dev .*single broker/),
  ])
})

test.each([
  ['a function of the same key', { functions: { 'dotted-sweep': {} } }, /functions\.dotted-sweep .*rename/],
  [
    'a function whose key differs, but not its logical id',
    { functions: { dottedDashsweep: {} } },
    /functions\.dottedDashsweep/,
  ],
  ['a resource of the same id', { resources: { Resources: { FenceTable: {} } } }, /resources\.Resources\.FenceTable/],
])('%s is refused: one would silently be gone', async (_, over, message) => {
  await expect(described(service(settings, over))).rejects.toThrow(message)
})

const key = 'arn:aws:kms:eu-central-1:123456789012:key/1c0ffee0-0000-4000-8000-000000000000'
const vpc = { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }

test.each([
  ['vpc', { vpc }],
  ['tracing.lambda', { tracing: { lambda: true } }],
  ['kmsKeyArn', { kmsKeyArn: key }],
  ['environment.FENCEPOST_ACCEPT_WEAK_TOPICS', { environment: { FENCEPOST_ACCEPT_WEAK_TOPICS: 'true' } }],
])(
  'provider.%s is refused: functions of relays would get it, and their roles and checks do not know',
  async (path, provider) => {
    await expect(described(service(settings, { provider }))).rejects.toThrow(`provider.${path} is set`)
  },
)

test('provider settings that the deployment knows too, or that do no harm, are let pass', async () => {
  const provider = { vpc, kmsKeyArn: key, tracing: { apiGateway: true }, environment: { STAGE: 'dev' } }
  expect(await described(service({ ...settings, vpc, kmsKey: key }, { provider }))).toEqual([])
  expect(await described(service(settings, { provider: { vpc: {} } }))).toEqual([])
})

test('deploying one function bundles that one, and leaves its role alone', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-plugin-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const relays = { dotted: { module: join(serviceDir, 'relays', 'dotted.ts') } }
  const serverless = service({ ...settings, relays }, {}, dir)
  const plugin = new FencepostPlugin(serverless, { function: 'dotted-status' }, { log: { warning: () => undefined } })
  await plugin.hooks.initialize?.()
  await plugin.hooks['before:deploy:function:packageFunction']?.()
  const { functions } = serverless.service
  expect(functions['dotted-status']).toMatchObject({
    package: { artifact: expect.stringMatching(/dotted-status\.zip$/) },
  })
  expect(functions['dotted-status']).not.toHaveProperty('role')
  expect(functions.dotted).toHaveProperty('role')
  expect(functions.dotted).not.toHaveProperty('package')
}, 30_000)

test('a relay whose name is not that of its settings is refused: its lanes would be others', async () => {
  const misnamed = service({ ...settings, relays: { orders: { module: 'relays/dotted.ts' } } })
  await expect(described(misnamed)).rejects.toThrow(
    /relays is 'orders', wanted 'dotted', the name in relays\/dotted\.ts/,
  )
})

test('a relay whose module is missing is refused, with its path', async () => {
  await expect(described(service({ ...settings, relays: { absent: {} } }))).rejects.toThrow(
    /relays\/absent\.ts does not exist/,
  )
})

test('what does not fit together is refused before anything is packaged', async () => {
  const tooLong = service({ ...settings, relays: { dotted: { environment: { FENCEPOST_LEASE_MS: '1000' } } } })
  await expect(described(tooLong)).rejects.toThrow(/CONFIG_INVALID: custom\.fencepost .*\n.*1000 ms/)
})
