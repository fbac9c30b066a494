import { describe, expect, test } from 'vitest'
import { isRelayError } from '../../../../lib/errors.ts'
import { type Environment, parseDeploymentConfig } from '../../../../lib/relay/config/config.ts'
import { settingsReference } from '../../../../lib/relay/config/reference.ts'
import { type Timing, timingProblems } from '../../../../lib/relay/config/relations.ts'
import { environmentSecrets } from '../../../../lib/relay/config/secrets.ts'
import { cachedSecrets } from '../../../../lib/secrets/secrets.ts'
import { minutes, seconds } from '../../../../lib/units.ts'

const least = {
  FENCEPOST_PREFIX: 'shop-prod',
  FENCEPOST_BROKERS: 'b-1.example.com:9092, [::1]:9093',
  FENCEPOST_TABLE: 'fences',
}
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'

describe('a deployment that says only what it must', () => {
  test('has a default for everything else', () => {
    expect(parseDeploymentConfig(least)).toEqual({
      prefix: 'shop-prod',
      kafka: { clientId: 'fencepost', brokers: ['b-1.example.com:9092', '[::1]:9093'] },
      table: 'fences',
      tableEndpoint: undefined,
      kafkaSecrets: {},
      registry: null,
      rack: '',
      transactionTimeoutMs: 900_000,
      commitReserveMs: 2_000,
      leaseMs: 5_000,
      renewEveryMs: 2_000,
      generation: 0,
      linger: false,
      partialFailures: false,
      acceptWeakTopics: false,
    })
  })

  test('has defaults that fit together, from a function of 3 seconds to one of 14 minutes', () => {
    const config = parseDeploymentConfig(least)
    expect(timingProblems({ ...config, functionTimeoutMs: seconds(3) })).toEqual([])
    expect(timingProblems({ ...config, functionTimeoutMs: minutes(14) })).toEqual([])
  })

  test('may have other variables, and empty ones where templates left a gap', () => {
    const config = parseDeploymentConfig({ ...least, AWS_REGION: 'eu-west-1', FENCEPOST_RACK: '', FENCEPOST_TLS: '' })
    expect(config.rack).toBe('')
  })
})

describe('security settings', () => {
  const kafkaOf = (env: Environment) => parseDeploymentConfig({ ...least, ...env }).kafka

  test('become TLS and SASL as the connections take them', () => {
    const login = {
      FENCEPOST_SASL_MECHANISM: 'scram-sha-512',
      FENCEPOST_SASL_USERNAME: 'relay',
      FENCEPOST_SASL_PASSWORD: 'x',
    }
    expect(kafkaOf({ FENCEPOST_TLS: 'true' })).toMatchObject({ tls: true })
    expect(kafkaOf({ FENCEPOST_TLS: 'true', FENCEPOST_TLS_CA: pem })).toMatchObject({ tls: { ca: pem } })
    expect(kafkaOf({ FENCEPOST_TLS: 'true', FENCEPOST_TLS_CERTIFICATE: pem, FENCEPOST_TLS_KEY: pem })).toMatchObject({
      tls: { cert: pem, key: pem },
    })
    expect(kafkaOf({ FENCEPOST_TLS: 'false', ...login })).toEqual({
      clientId: 'fencepost',
      brokers: ['b-1.example.com:9092', '[::1]:9093'],
      sasl: { mechanism: 'scram-sha-512', username: 'relay', password: 'x' },
    })
  })

  test.each<[what: string, env: Environment, paths: string[]]>([
    [
      'a login without saying whether it is encrypted',
      { FENCEPOST_SASL_MECHANISM: 'plain', FENCEPOST_SASL_USERNAME: 'u', FENCEPOST_SASL_PASSWORD: 'p' },
      ['FENCEPOST_TLS'],
    ],
    [
      'half a login',
      { FENCEPOST_TLS: 'true', FENCEPOST_SASL_USERNAME: 'u' },
      ['FENCEPOST_SASL_MECHANISM', 'FENCEPOST_SASL_PASSWORD'],
    ],
    [
      'a login that is said twice',
      {
        FENCEPOST_TLS: 'true',
        FENCEPOST_SASL_MECHANISM: 'plain',
        FENCEPOST_SASL_USERNAME: 'u',
        FENCEPOST_SASL_PASSWORD: 'p',
        FENCEPOST_SASL_SECRET: 'ssm:/kafka',
      },
      ['FENCEPOST_SASL_USERNAME', 'FENCEPOST_SASL_PASSWORD'],
    ],
    [
      'a password for MSK IAM, which has none, or no encryption',
      { FENCEPOST_SASL_MECHANISM: 'aws-msk-iam', FENCEPOST_TLS: 'false', FENCEPOST_SASL_PASSWORD: 'p' },
      ['FENCEPOST_TLS', 'FENCEPOST_SASL_PASSWORD'],
    ],
    [
      'a secret for a login without its mechanism',
      { FENCEPOST_TLS: 'true', FENCEPOST_SASL_SECRET: 'ssm:/kafka' },
      ['FENCEPOST_SASL_MECHANISM'],
    ],
    [
      'certificates that are said twice',
      {
        FENCEPOST_TLS: 'true',
        FENCEPOST_TLS_CA: pem,
        FENCEPOST_TLS_CA_SECRET: 'ssm:/ca',
        FENCEPOST_TLS_CERTIFICATE: pem,
        FENCEPOST_TLS_KEY: pem,
        FENCEPOST_TLS_CLIENT_SECRET: 'ssm:/client',
      },
      ['FENCEPOST_TLS_CA', 'FENCEPOST_TLS_CERTIFICATE'],
    ],
    [
      'a passphrase without its key',
      { FENCEPOST_TLS: 'true', FENCEPOST_TLS_KEY_PASSPHRASE: 'p' },
      ['FENCEPOST_TLS_KEY'],
    ],
    [
      'half a login to a registry, and none',
      { FENCEPOST_REGISTRY_USERNAME: 'u' },
      ['FENCEPOST_REGISTRY_PASSWORD', 'FENCEPOST_REGISTRY_URL'],
    ],
    ['certificates without TLS', { FENCEPOST_TLS: 'false', FENCEPOST_TLS_CA: pem }, ['FENCEPOST_TLS']],
    ['a certificate without its key', { FENCEPOST_TLS: 'true', FENCEPOST_TLS_CERTIFICATE: pem }, ['FENCEPOST_TLS_KEY']],
  ])('are refused for %s', (_what, env, paths) => {
    expect(refusal({ ...least, ...env }).paths).toEqual(paths)
  })
})

describe('an environment that cannot work', () => {
  test('is refused with all its problems at once: variable, value, bound and fix', () => {
    const { message } = refusal({ FENCEPOST_PREFIX: 'a.b', FENCEPOST_BROKERS: 'kafka', FENCEPOST_LEASE_MS: '5s' })
    expect(message).toBe(
      [
        'CONFIG_INVALID: the environment has 4 problems',
        "  FENCEPOST_PREFIX is 'a.b', wanted 1 to 64 letters, digits, '_' or '-' (no dots: they divide transactional ids). Fix: set it, for example to shop-prod",
        "  FENCEPOST_BROKERS is 'kafka', wanted 'host:port', several divided by commas. Fix: set it, for example to b-1.shop.example.com:9096,b-2.shop.example.com:9096",
        '  FENCEPOST_TABLE is missing, wanted a value. Fix: set it, for example to fencepost-prod-fences',
        "  FENCEPOST_LEASE_MS is '5s', wanted a whole number from 1,000 to 600,000. Fix: set it, for example to 5000",
      ].join('\n'),
    )
  })

  test('names a misspelt variable instead of passing over it', () => {
    expect(refusal({ ...least, FENCEPOST_TRANSACTION_TIMEOUT: '1' }).paths).toEqual(['FENCEPOST_TRANSACTION_TIMEOUT'])
  })

  test('never shows a secret', () => {
    const { message, paths } = refusal({ ...least, FENCEPOST_TLS_KEY: 'hunter2' })
    expect(paths).toEqual(['FENCEPOST_TLS_KEY'])
    expect(message).not.toContain('hunter2')
  })

  test.each([
    ['FENCEPOST_LEASE_MS', '999'],
    ['FENCEPOST_LEASE_MS', '600001'],
    ['FENCEPOST_LEASE_MS', '-1'],
    ['FENCEPOST_LEASE_MS', '5e3'],
    ['FENCEPOST_GENERATION', '99999999999999999999'],
    ['FENCEPOST_TRANSACTION_TIMEOUT_MS', '900001'],
    ['FENCEPOST_LINGER', 'yes'],
    ['FENCEPOST_TABLE_ENDPOINT', 'localhost'],
    ['FENCEPOST_BROKERS', 'a:1,,b:2'],
    ['FENCEPOST_BROKERS', 'a:99999'],
    ['FENCEPOST_SASL_MECHANISM', 'gssapi'],
    ['FENCEPOST_SASL_SECRET', 'shop/kafka'],
    ['FENCEPOST_TLS_CLIENT_SECRET', 'arn:aws:s3:::bucket'],
    ['FENCEPOST_REGISTRY_URL', 'registry'],
  ])('%s=%s', (name, value) => {
    expect(refusal({ ...least, [name]: value }).paths).toContain(name)
  })
})

describe('times that do not fit together', () => {
  const fine: Timing = {
    functionTimeoutMs: minutes(1),
    transactionTimeoutMs: minutes(15),
    commitReserveMs: 2_000,
    leaseMs: 5_000,
    renewEveryMs: 2_000,
  }

  test.each<[path: string, change: Partial<Timing>]>([
    ['function timeout', { functionTimeoutMs: minutes(14) + 1 }],
    ['FENCEPOST_TRANSACTION_TIMEOUT_MS', { transactionTimeoutMs: minutes(1) }],
    ['FENCEPOST_COMMIT_RESERVE_MS', { commitReserveMs: minutes(1) }],
    ['FENCEPOST_RENEW_EVERY_MS', { renewEveryMs: 2_501 }],
  ])('%s is named with its reason', (path, change) => {
    expect(timingProblems({ ...fine, ...change })).toEqual([
      { path, found: expect.stringMatching(/ ms$/), wanted: expect.stringContaining(': '), fix: expect.any(String) },
    ])
  })
})

describe('secrets', () => {
  test('are read from the environment by name, and are no unknown settings', async () => {
    const env = { ...least, FENCEPOST_SECRET_API_KEY: 's3cret' }
    expect(parseDeploymentConfig(env).prefix).toBe('shop-prod')
    expect(await environmentSecrets(env)('API_KEY')).toBe('s3cret')
  })

  test('are read from where the variable says they are kept, once', async () => {
    const read: string[] = []
    const store = {
      read: async ({ text }: { text: string }) => {
        read.push(text)
        return 'kept'
      },
    }
    const secret = environmentSecrets({ FENCEPOST_SECRET_API_KEY: 'ssm:/shop/key' }, cachedSecrets(store))
    expect(await secret('API_KEY')).toBe('kept')
    expect(await secret('API_KEY')).toBe('kept')
    expect(read).toEqual(['ssm:/shop/key'])
  })

  test('stay out of what a deployment keeps of its settings', () => {
    const env = { ...least, FENCEPOST_TLS: 'true', FENCEPOST_SASL_MECHANISM: 'plain', FENCEPOST_SASL_USERNAME: 'u' }
    const { kafka, ...rest } = parseDeploymentConfig({ ...env, FENCEPOST_SASL_PASSWORD: 'hunter2' })
    expect(kafka.sasl).toMatchObject({ password: 'hunter2' })
    expect(JSON.stringify(rest)).not.toContain('hunter2')
  })

  test('that are missing are named with their variable', async () => {
    await expect(environmentSecrets({})('API_KEY')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('set FENCEPOST_SECRET_API_KEY'),
    })
  })
})

test('docs/reference/settings.md says what the schema says (npx vitest -u writes it)', async () => {
  await expect(settingsReference()).toMatchFileSnapshot('../../../../docs/reference/settings.md')
})

function refusal(env: Environment): { message: string; paths: string[] } {
  try {
    parseDeploymentConfig(env)
  } catch (error) {
    if (!isRelayError(error) || error.code !== 'CONFIG_INVALID') throw error
    const problems = error.context.problems as { path: string }[]
    return { message: error.message, paths: problems.map(({ path }) => path) }
  }
  throw new Error('the environment should have been refused')
}
