import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../../infra/parse-settings.ts'
import { isRelayError } from '../../../lib/errors.ts'
import { leastSettings } from '../../helpers/deployment-plans.ts'

const problemsOf = (given: unknown): { path: string; found: string; wanted: string }[] => {
  try {
    parseSettings(given)
    return []
  } catch (error) {
    if (!isRelayError(error) || error.code !== 'CONFIG_INVALID') throw error
    return error.context.problems as { path: string; found: string; wanted: string }[]
  }
}

const withRelay = (relay: object) => ({ ...leastSettings, relays: { delays: relay } })

test('prefix, brokers and the name of a relay are enough', () => {
  const settings = parseSettings(leastSettings)
  expect(settings).toMatchObject({
    protect: true,
    acceptWeakTopics: false,
    alarms: true,
    dashboard: true,
    sweep: 900_000,
  })
  expect(settings.relays.delays).toMatchObject({ latency: 5_000, timeout: 60_000, memory: 512 })
})

test('brokers are a list of addresses, or kept in SSM', () => {
  expect(parseSettings({ ...leastSettings, brokers: 'a:9092, b:9092' }).brokers).toEqual(['a:9092', 'b:9092'])
  expect(parseSettings({ ...leastSettings, brokers: { ssm: '/shop/brokers' } }).brokers).toEqual({
    ssm: '/shop/brokers',
  })
})

describe('what is refused', () => {
  test.each([
    ['prefix', { ...leastSettings, prefix: 'shop.prod' }],
    ['brokers', { ...leastSettings, brokers: 'localhost' }],
    ['auth', { ...leastSettings, auth: { scram512: 'relay', plain: 'relay' } }],
    ['auth.scram512', { ...leastSettings, auth: { scram512: 'relay' } }],
    ['msk', { ...leastSettings, msk: 'my-cluster' }],
    ['acceptWeakTopics', { ...leastSettings, acceptWeakTopics: 'true' }],
    ['logRetentionDays', { ...leastSettings, logRetentionDays: 10 }],
    ['vpc.subnetIds', { ...leastSettings, vpc: { subnetIds: [], securityGroupIds: ['sg-1'] } }],
    ['alarms.topic', { ...leastSettings, alarms: { topic: 'on-call' } }],
    ['relays', { ...leastSettings, relays: {} }],
    ['relays.delays.latency', withRelay({ latency: 5 })],
    ['relays.delays.latency', withRelay({ latency: '5 seconds' })],
    ['relays.delays.timeout', withRelay({ timeout: '5s' })],
    ['relays.delays.timeout', withRelay({ timeout: '15m' })], // longer than a mapping waits, and than a transaction lasts
    ['relays.delays.memory', withRelay({ memory: 64 })],
    ['relays.delays.batchSize', withRelay({ batchSize: 10_001 })],
    ['relays.delays.trigger', withRelay({ trigger: 'kafka' })],
    ['relays.delays.pollers.min', withRelay({ pollers: { min: 0 } })],
    ['relays.delays.filter.0.kind', withRelay({ filter: [{ value: {}, kind: ['late'] }] })],
    ['relays.delays.filter.0.value', withRelay({ filter: [{}] })],
    ['relays.delays.filter', withRelay({ filter: Array(21).fill({ value: {} }) })],
  ])('%s out of bounds: %j', (path, given) => {
    expect(problemsOf(given).map((problem) => problem.path)).toEqual([path])
  })

  test('a setting that is missing is named', () => {
    const { prefix: _, ...rest } = leastSettings
    expect(problemsOf(rest)).toMatchObject([{ path: 'prefix', found: 'missing' }])
    expect(problemsOf(undefined)).toHaveLength(1)
  })

  test('a secret that was written where its ARN belongs is not repeated', () => {
    const [problem] = problemsOf({ ...leastSettings, auth: { scram512: 'hunter2' } })
    expect(JSON.stringify(problem)).not.toContain('hunter2')
  })

  test.each(['onFailure', 'maximumRetryAttempts', 'maximumRecordAgeInSeconds', 'consumptionMode', 'consumerGroupId'])(
    '%s, because bells would be dropped or lose their order, with what there is instead',
    (name) => {
      const [problem] = problemsOf(withRelay({ [name]: 3 }))
      expect(problem?.path).toBe(`relays.delays.${name}`)
      expect(problem?.wanted).toMatch(/deadLetters|nothing: /)
    },
  )

  test('a setting that does not exist', () => {
    expect(problemsOf(withRelay({ latncy: '5s' }))).toMatchObject([
      { path: 'relays.delays.latncy', found: 'not a setting' },
    ])
  })

  test('everything at once', () => {
    const given = { prefix: 'a.b', brokers: 'x', relays: { delays: { memory: 1, timeout: '1h' } } }
    expect(problemsOf(given).map(({ path }) => path)).toEqual([
      'prefix',
      'brokers',
      'relays.delays.memory',
      'relays.delays.timeout',
    ])
  })
})
