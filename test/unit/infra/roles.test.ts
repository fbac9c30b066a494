import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Role } from '../../../infra/plan.ts'
import { statementsOf } from '../../../infra/resources/roles.ts'
import { transactionalId } from '../../../lib/transaction/ids.ts'
import { planOf } from '../../helpers/deployment-plans.ts'
import { type Account, allows, type Request } from '../../helpers/policies.ts'

const here = 'eu-central-1:123456789012'
const secret = (name: string): string => `arn:aws:secretsmanager:${here}:secret:${name}-AbCdEf`
const key = `arn:aws:kms:${here}:key/1c0ffee0-0000-4000-8000-000000000000`
const uuid = '11111111-2222-3333-4444-555555555555-1'
const msk = `arn:aws:kafka:${here}:cluster/shop/${uuid}`
const table = `arn:aws:dynamodb:${here}:table/shop-prod-fences`
const bucket = 'arn:aws:s3:::shop-snapshots'
const account: Account = {
  region: 'eu-central-1',
  account: '123456789012',
  arns: { FenceTable: table, SnapshotBucket: bucket },
}

const settings = {
  auth: { scram512: secret('kafka') },
  privateCa: secret('ca'),
  kmsKey: key,
  snapshots: true,
  relays: {
    delays: {
      latency: '5s',
      environment: { FENCEPOST_SECRET_API: 'ssm:/shop/api', FENCEPOST_SECRET_B: 'secretsmanager:b' },
    },
    'delays-2': { latency: '5m' },
  },
}
const plan = planOf(settings, { delays: 'flights' })
const vpc = { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }
const iam = planOf({ ...settings, msk, vpc, auth: { iam: true } }, { delays: 'flights' })

function may(role: Role, request: Request, its = plan, relayName = 'delays'): boolean {
  const relay = its.relays.find(({ facts }) => facts.name === relayName)
  const one = relay?.functions.find((each) => each.role === role)
  if (!relay || !one) throw new Error(`no ${role} of ${relayName}`)
  return allows(statementsOf(its, relay, one), account, request)
}

const fence = (action: string, id: string, resource = table): Request => ({
  action: `dynamodb:${action}`,
  resource,
  context: { 'dynamodb:LeadingKeys': [id] },
})
const lane = transactionalId('shop-prod', 'delays', 'flights', 3)
const scan = { action: 'dynamodb:Scan', resource: table }
const read = (resource: string): Request => ({ action: 'secretsmanager:GetSecretValue', resource })
const parameter = (name: string): Request => ({
  action: 'ssm:GetParameter',
  resource: `arn:aws:ssm:${here}:parameter${name}`,
})
const log = (name: string): Request => ({
  action: 'logs:PutLogEvents',
  resource: `arn:aws:logs:${here}:log-group:/aws/lambda/${name}:log-stream:2026/11/29/a`,
})
const object = (action: string, path: string): Request => ({ action: `s3:${action}`, resource: `${bucket}/${path}` })

const working: readonly Role[] = ['bell', 'sweep']
const every: readonly Role[] = ['bell', 'sweep', 'status']

describe('each AWS call that the code makes is allowed', () => {
  const calls: readonly [what: string, roles: readonly Role[], Request][] = [
    ['read a fence record', every, fence('GetItem', lane)],
    ['write a fence record', working, fence('UpdateItem', lane)],
    ['remember how many partitions there were', working, fence('UpdateItem', 'first-start/shop-prod.delays.flights')],
    ['list fence records', ['sweep', 'status'], scan],
    ['read the login for Kafka', every, read(secret('kafka'))],
    ['read the private CA', every, read(secret('ca'))],
    ['read a secret of the relay by name', every, read(`arn:aws:secretsmanager:${here}:secret:b-123abc`)],
    ['read a parameter of the relay', every, parameter('/shop/api')],
    ['decrypt them', every, { action: 'kms:Decrypt', resource: key }],
    ['read a snapshot', working, object('GetObject', 'shop-prod/delays/0/abc')],
    ['write a snapshot', working, object('PutObject', 'shop-prod/delays/0/abc')],
  ]
  test.each(calls)('%s: %j', (_, roles, request) => {
    expect(every.filter((role) => may(role, request))).toEqual(roles)
  })

  test('the mapping logs in with the role of the bell, also where the function has a login of its own', () => {
    const environment = { FENCEPOST_SASL_SECRET: secret('own'), FENCEPOST_TLS_CA_SECRET: secret('own-ca') }
    const its = planOf({ ...settings, relays: { delays: { latency: '5s', environment } } })
    for (const name of ['kafka', 'ca', 'own', 'own-ca']) {
      expect(every.filter((role) => may(role, read(secret(name)), its))).toEqual(
        name.startsWith('own') ? every : ['bell'],
      )
    }
  })

  test('each function writes its own log', () => {
    expect(may('bell', log('shop-prod-delays'))).toBe(true)
    expect(may('sweep', log('shop-prod-delays-sweep'))).toBe(true)
    expect(may('status', log('shop-prod-delays-status'))).toBe(true)
  })
})

describe('what belongs to others is not', () => {
  const others: readonly [what: string, Request][] = [
    ["a neighbour's table", fence('UpdateItem', lane, `arn:aws:dynamodb:${here}:table/shop-dev-fences`)],
    ["a neighbour's lanes in the same table", fence('UpdateItem', transactionalId('shop-prod', 'spend', 'orders', 0))],
    [
      'lanes of a relay whose name begins alike',
      fence('GetItem', transactionalId('shop-prod', 'delays-2', 'flights', 0)),
    ],
    ["another deployment's lanes", fence('UpdateItem', transactionalId('shop-dev', 'delays', 'flights', 3))],
    ['a request that names no key', { action: 'dynamodb:UpdateItem', resource: table }],
    ['deleting a record', fence('DeleteItem', lane)],
    ['writing a record whole, past all conditions', fence('PutItem', lane)],
    ['deleting the table', { action: 'dynamodb:DeleteTable', resource: table }],
    ["another prefix's snapshots", object('GetObject', 'shop-dev/delays/0/abc')],
    ["another relay's snapshots", object('PutObject', 'shop-prod/delays-2/0/abc')],
    ['deleting snapshots', object('DeleteObject', 'shop-prod/delays/0/abc')],
    ["a neighbour's secret", read(secret('payments'))],
    ['a secret whose name begins alike', read(`arn:aws:secretsmanager:${here}:secret:b-other-123abc`)],
    ["a neighbour's parameter", parameter('/shop/api/admin')],
    ['another key', { action: 'kms:Decrypt', resource: `arn:aws:kms:${here}:key/other` }],
    ['encrypting', { action: 'kms:Encrypt', resource: key }],
    ["a neighbour's log", log('shop-prod-delays-2')],
    [
      'invoking functions',
      { action: 'lambda:InvokeFunction', resource: `arn:aws:lambda:${here}:function:shop-prod-delays` },
    ],
    ['taking another role', { action: 'sts:AssumeRole', resource: 'arn:aws:iam::123456789012:role/admin' }],
  ]
  test.each(others)('%s: %j', (_, request) => {
    expect(every.filter((role) => may(role, request))).toEqual([])
  })

  test('a relay that has no secrets of its own may not read those of the other', () => {
    expect(may('bell', parameter('/shop/api'), plan, 'delays-2')).toBe(false)
  })

  test('without a key, none may be used', () => {
    const { kmsKey: _, ...rest } = settings
    expect(may('bell', { action: 'kms:Decrypt', resource: key }, planOf(rest))).toBe(false)
  })

  test('without snapshots, no bucket may be used', () => {
    const without = planOf({ ...settings, snapshots: false })
    expect(may('bell', object('GetObject', 'shop-prod/delays/0/abc'), without)).toBe(false)
  })
})

describe('MSK IAM', () => {
  const cluster = (action: string): Request => ({ action: `kafka-cluster:${action}`, resource: msk })
  const at = (action: string, kind: string, name: string, of = `shop/${uuid}`): Request => ({
    action: `kafka-cluster:${action}`,
    resource: `arn:aws:kafka:${here}:${kind}/${of}/${name}`,
  })
  const requests: readonly [roles: readonly Role[], Request][] = [
    [every, cluster('Connect')],
    [every, cluster('DescribeCluster')],
    [working, cluster('WriteDataIdempotently')],
    [every, at('DescribeTopic', 'topic', 'flights')],
    [working, at('ReadData', 'topic', 'flights')],
    [every, at('DescribeTopic', 'topic', 'delays.out')], // whoever asks for a relay's topics asks for all of them
    [every, at('DescribeTopic', 'topic', 'delays.dead')],
    [working, at('WriteData', 'topic', 'delays.out')],
    [working, at('WriteData', 'topic', 'delays.dead')],
    [every, at('DescribeGroup', 'group', 'shop-prod.delays')],
    [working, at('AlterGroup', 'group', 'shop-prod.delays')],
    [every, at('DescribeTransactionalId', 'transactional-id', lane)],
    [working, at('AlterTransactionalId', 'transactional-id', lane)],
    [['bell'], at('AlterGroup', 'group', 'shop-prod.delays.bell')],
    [[], at('WriteData', 'topic', 'flights')],
    [[], at('WriteData', 'topic', 'delays-2.out')],
    [[], at('DeleteTopic', 'topic', 'delays.out')],
    [[], at('AlterGroup', 'group', 'shop-dev.delays')],
    [[], at('AlterTransactionalId', 'transactional-id', transactionalId('shop-prod', 'delays-2', 'flights', 0))],
    [[], at('ReadData', 'topic', 'flights', `other/${uuid}`)],
  ]
  test.each(requests)('%j may %j', (roles, request) => {
    expect(every.filter((role) => may(role, request, iam))).toEqual(roles)
  })

  test('a mapping finds the cluster, and makes its network interfaces', () => {
    expect(may('bell', { action: 'kafka:GetBootstrapBrokers', resource: msk }, iam)).toBe(true)
    expect(may('bell', { action: 'ec2:CreateNetworkInterface', resource: '*' }, iam)).toBe(true)
    expect(may('sweep', { action: 'kafka:GetBootstrapBrokers', resource: msk }, iam)).toBe(false)
  })

  test('without it, nothing of the cluster is allowed by IAM', () => {
    expect(may('bell', cluster('Connect'))).toBe(false)
  })
})

/** The calls above are all there are: this fails when the code begins to make another. */
test('the code that is deployed sends no other command', async () => {
  const sources = ['functions', 'lib/lambda', 'lib/relay', 'lib/fencing', 'lib/secrets', 'lib/state', 'lib/codecs']
  const commands = new Set<string>()
  for (const file of (await Promise.all(sources.map(filesIn))).flat()) {
    if (file.endsWith('ensure-fence-store.ts')) continue // of the local stack
    for (const [, command] of (await readFile(file, 'utf8')).matchAll(/new (\w+)Command\(/g))
      commands.add(command ?? '')
  }
  expect([...commands].sort()).toEqual(['GetItem', 'GetParameter', 'GetSecretValue', 'Scan', 'UpdateItem'])
})

async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((one) => one.isFile() && one.name.endsWith('.ts')).map((one) => join(one.parentPath, one.name))
}
