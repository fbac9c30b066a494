import { describe, expect, test } from 'vitest'
import { planProblems } from '../../../infra/problems.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const msk = 'arn:aws:kafka:eu-central-1:123456789012:cluster/shop/11111111-2222-3333-4444-555555555555-1'
const secret = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:kafka-AbCdEf'
const vpc = { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }
const relay = (settings: object) => planOf({ relays: { delays: settings } })

const pathsOf = (plan: ReturnType<typeof planOf>): string[] => planProblems(plan).map(({ path }) => path)

test.each(['100ms', '1s', '5s', '30s', '60s', '1h'])('defaults fit together for a latency of %s', (latency) => {
  expect(planProblems(relay({ latency }))).toEqual([])
})

test('the longest function that a mapping waits for fits together with the longest transaction', () => {
  expect(planProblems(relay({ timeout: '14m' }))).toEqual([])
})

describe('what a deployment is refused for, before anything is deployed', () => {
  test('timings that the function itself would refuse at its cold start', () => {
    const plan = relay({ environment: { FENCEPOST_RENEW_EVERY_MS: '4000' } })
    expect(pathsOf(plan)).toEqual(['relays.delays (bell): FENCEPOST_RENEW_EVERY_MS'])
  })

  test.each([
    ['FENCEPOST_LEASE', '6000'],
    ['FENCEPOST_TLS', 'maybe'],
    ['FENCEPOST_SASL_SECRET', 'hunter'],
  ])('a variable that each function would refuse at its cold start, told once: %s=%s', (name, value) => {
    for (const settings of [{}, { brokers: { ssm: '/shop/brokers' }, auth: { scram512: secret } }]) {
      const plan = planOf({ ...settings, relays: { delays: { environment: { [name]: value } } } })
      expect(pathsOf(plan)).toEqual([`relays.delays (bell): ${name}`])
    }
  })

  test('a variable that contradicts what is deployed: an answer of partial failures that the mapping takes for success', () => {
    const environment = { FENCEPOST_PARTIAL_FAILURES: 'true', FENCEPOST_PREFIX: 'other', FENCEPOST_LEASE_MS: '6000' }
    expect(pathsOf(relay({ environment }))).toEqual([
      'relays.delays.environment.FENCEPOST_PARTIAL_FAILURES',
      'relays.delays.environment.FENCEPOST_PREFIX',
    ])
  })

  test('weak topics accepted by a variable, past the warning', () => {
    const problems = planProblems(relay({ environment: { FENCEPOST_ACCEPT_WEAK_TOPICS: 'true' } }))
    expect(problems).toMatchObject([{ fix: 'set acceptWeakTopics of custom.fencepost instead' }])
  })

  test('a password in a variable: templates show it, and the console', () => {
    const environment = { FENCEPOST_SASL_PASSWORD: 'hunter2', FENCEPOST_TLS_KEY: 'hunter2' }
    const problems = planProblems(relay({ environment }))
    expect(problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'relays.delays.environment.FENCEPOST_SASL_PASSWORD',
        'relays.delays.environment.FENCEPOST_TLS_KEY',
      ]),
    )
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  test('more brokers than a mapping takes', () => {
    const brokers = Array.from({ length: 11 }, (_, index) => `b-${index}.example.com:9096`).join()
    expect(pathsOf(planOf({ brokers }))).toEqual(['brokers'])
    expect(pathsOf(planOf({ brokers, msk, vpc }))).toEqual([])
    expect(pathsOf(planOf({ brokers, relays: { delays: { latency: '5m' } } }))).toEqual([])
  })

  test.each(['kafka_1:9092', '[::1]:9092', 'b-1:9092,b-1:9092'])(
    'brokers that a mapping does not take: %s',
    (brokers) => {
      expect(pathsOf(planOf({ brokers }))).toEqual(['brokers'])
      expect(pathsOf(planOf({ brokers, relays: { delays: { latency: '5m' } } }))).toEqual([])
    },
  )

  test.each(['t', '.orders'])('a topic that Kafka takes and a mapping does not: %s', (topic) => {
    expect(pathsOf(planOf({}, { delays: topic }))).toEqual(['relays.delays.trigger'])
    expect(pathsOf(planOf({ relays: { delays: { latency: '5m' } } }, { delays: topic }))).toEqual([])
  })

  test('pollers without provisioned mode', () => {
    expect(pathsOf(relay({ latency: '5s', pollers: { min: 1 } }))).toEqual(['relays.delays.pollers'])
  })

  test('more pollers at least than at most', () => {
    expect(pathsOf(relay({ latency: '0ms', pollers: { min: 9, max: 3 } }))).toEqual(['relays.delays.pollers.min'])
  })

  test('a filter without events', () => {
    expect(pathsOf(relay({ latency: '5m', filter: [{ value: { kind: ['late'] } }] }))).toEqual(['relays.delays.filter'])
  })

  test('a function name longer than Lambda takes', () => {
    expect(pathsOf(planOf({ relays: { ['d'.repeat(50)]: {} } }))).toHaveLength(2) // sweep and status
  })

  test('two functions that would get one logical id, of which one would silently be gone', () => {
    const plan = planOf({ relays: { 'a-b': {}, aDashb: {} } })
    expect(planProblems(plan)).toMatchObject([
      { path: 'function aDashb' },
      { path: 'function aDashb-sweep' },
      { path: 'function aDashb-status' },
    ])
  })

  test('IAM without the cluster that permissions are for', () => {
    expect(pathsOf(planOf({ auth: { iam: true } }))).toEqual(['auth.iam'])
  })

  test.each([{ plain: secret }, { scram256: secret }])('%j on MSK, which does not have it', (auth) => {
    expect(pathsOf(planOf({ msk, vpc, auth }))).toEqual([`auth.${Object.keys(auth)}`])
  })

  test('MSK without a way to it', () => {
    expect(pathsOf(planOf({ msk, auth: { scram512: secret } }))).toEqual(['vpc'])
  })
})
