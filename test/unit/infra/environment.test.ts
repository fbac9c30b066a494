import { describe, expect, test } from 'vitest'
import { functionEnvironment } from '../../../infra/resources/environment.ts'
import { type DeploymentConfig, parseDeploymentConfig } from '../../../lib/relay/config/config.ts'
import { timingProblems } from '../../../lib/relay/config/relations.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const msk = 'arn:aws:kafka:eu-central-1:123456789012:cluster/shop/11111111-2222-3333-4444-555555555555-1'
const secret = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:kafka-AbCdEf'
const vpc = { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }
const relays = {
  quick: { latency: '0ms' },
  lingering: { latency: '1s' },
  delays: { latency: '5s' },
  slow: { latency: '1h' },
}

/** What CloudFormation makes of references. */
function resolved(value: unknown): string {
  if (typeof value === 'string') return value
  if (JSON.stringify(value) === '{"Ref":"FenceTable"}') return 'shop-prod-fences'
  if (JSON.stringify(value) === '{"Fn::Join":[",",{"Ref":"KafkaBrokers"}]}')
    return 'b-1.example.com:9096,b-2.example.com:9096'
  throw new Error(`${JSON.stringify(value)} is not expected in an environment`)
}

/** Every function of a deployment, as it reads its settings at its cold start. */
function functionsOf(settings: Readonly<Record<string, unknown>>) {
  const plan = planOf({ relays, ...settings })
  return plan.relays.flatMap((relay) =>
    relay.functions.map((one) => {
      const environment = Object.entries(functionEnvironment(plan, relay, one))
      const config = parseDeploymentConfig(
        Object.fromEntries(environment.map(([name, value]) => [name, resolved(value)])),
      )
      return { key: one.key, config, timeoutMs: one.timeoutSeconds * 1_000 }
    }),
  )
}

const deployments: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an open cluster': {},
  'brokers in SSM': { brokers: { ssm: '/shop/brokers' } },
  'SCRAM-512': { auth: { scram512: secret } },
  'SCRAM-256 and a private CA': { auth: { scram256: secret }, privateCa: secret },
  PLAIN: { auth: { plain: secret } },
  'mutual TLS': { auth: { mtls: secret }, privateCa: secret },
  'MSK IAM': { auth: { iam: true }, msk, vpc },
  'a private CA only': { privateCa: secret },
}

describe.each(Object.entries(deployments))('with %s', (_, settings) => {
  test('every function accepts the environment that it is given, and its timings', () => {
    for (const { config, timeoutMs } of functionsOf(settings)) {
      expect(timingProblems({ ...config, functionTimeoutMs: timeoutMs })).toEqual([])
      expect(config).toMatchObject({ prefix: 'shop-prod', table: 'shop-prod-fences', generation: 7 })
    }
  })
})

const trueFor = (name: 'linger' | 'partialFailures'): string[] =>
  functionsOf({})
    .filter(({ config }: { config: DeploymentConfig }) => config[name])
    .map(({ key }) => key)

test('only the function behind a lingering schedule lingers', () => {
  expect(trueFor('linger')).toEqual(['lingering'])
})

test('only the function behind a provisioned mapping reports lane by lane', () => {
  expect(trueFor('partialFailures')).toEqual(['quick'])
})

test('weak topics are accepted by every function of a deployment that says so, and by none otherwise', () => {
  const accepting = (given: { acceptWeakTopics?: boolean }) =>
    functionsOf(given).map(({ config }) => config.acceptWeakTopics)
  expect(new Set(accepting({ acceptWeakTopics: true }))).toEqual(new Set([true]))
  expect(new Set(accepting({}))).toEqual(new Set([false]))
})

test('a transaction outlasts its function by a minute, so that readers wait no longer than that for a dead one', () => {
  for (const { config, timeoutMs } of functionsOf({})) expect(config.transactionTimeoutMs - timeoutMs).toBe(60_000)
})
