import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock, systemRandom } from '../../../lib/clock.ts'
import { isRelayError, type RelayError } from '../../../lib/errors.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { KafkaConnectionConfig, SaslConfig } from '../../../lib/kafka/connection-config.ts'
import { createCluster } from '../../../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../../lib/kafka/kafkajs-transport.ts'
import { type NodeAddress, type Transport, TransportError } from '../../../lib/kafka/transport.ts'
import { mskIamToken } from '../../../lib/secrets/msk-iam-token.ts'
import { type Certificate, certificateAuthority } from '../../helpers/certificates.ts'
import { within } from '../../helpers/kafka-client.ts'
import { type SecuredKafka, startSecuredKafka } from '../../helpers/secured-kafka.ts'

const sessionMs = 1_500
const connectionsMax = 40
let dir: string
let kafka: SecuredKafka
const opened: Cluster[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-secured-'))
  kafka = await startSecuredKafka(dir, { sessionMs, connectionsMax })
})
afterAll(async () => {
  await Promise.all(opened.map((cluster) => cluster.close()))
  await kafka?.stop()
  await rm(dir, { recursive: true, force: true })
})

function clusterWith(config: Omit<KafkaConnectionConfig, 'clientId'>): Cluster {
  const transport = createKafkaTransport({ clientId: 'fencepost-test', ...config })
  const cluster = createCluster(transport, systemClock, systemRandom)
  opened.push(cluster)
  return cluster
}

async function failureOf(cluster: Cluster): Promise<RelayError> {
  const error = await cluster.clusterId(within(5_000)).catch((reason: unknown) => reason)
  if (isRelayError(error)) return error
  throw new Error(`expected a RelayError, got ${String(error)}`)
}

const ann: SaslConfig = { mechanism: 'plain', username: 'ann', password: 'secret' }
const mechanisms: readonly SaslConfig[] = [
  ann,
  { mechanism: 'scram-sha-256', username: 'bob', password: 'secret' },
  { mechanism: 'scram-sha-512', username: 'eve', password: 'secret' },
]

test.each(mechanisms)('$mechanism opens a connection, over TLS too', async (sasl) => {
  const plain = clusterWith({ brokers: [kafka.sasl], sasl })
  const encrypted = clusterWith({ brokers: [kafka.saslTls], sasl, tls: { ca: kafka.ca } })
  expect(await plain.clusterId(within(5_000))).toBe('c2VjdXJlZC1rYWZrYS0wMQ')
  expect(await encrypted.clusterId(within(5_000))).toBe('c2VjdXJlZC1rYWZrYS0wMQ')
})

test.each(mechanisms)('a wrong password for $mechanism is named as such', async (sasl) => {
  const error = await failureOf(
    clusterWith({ brokers: [kafka.sasl], sasl: { ...sasl, password: 'guess' } as SaslConfig }),
  )
  expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED', disposition: 'fix-config' })
  expect(error.message).toContain(sasl.mechanism)
})

/** As the validator for development takes it: no signature. */
function unsignedToken(lifetimeS: number): string {
  const nowS = Math.floor(systemClock.now() / 1000)
  const claims = { sub: 'ann', iat: nowS, exp: nowS + lifetimeS }
  return [{ alg: 'none' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
    .concat('.')
}

test('oauthbearer asks for a token at each connect and shows it', async () => {
  let asked = 0
  const token = async () => {
    asked++
    return unsignedToken(60)
  }
  const cluster = clusterWith({ brokers: [kafka.sasl], sasl: { mechanism: 'oauthbearer', token } })
  expect(await cluster.clusterId(within(5_000))).toBe('c2VjdXJlZC1rYWZrYS0wMQ')
  expect(asked).toBe(1)
})

test('a token for MSK that the broker does not take is refused as such', async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION']) vi.stubEnv(name, 'eu-west-1')
  const sasl: SaslConfig = { mechanism: 'oauthbearer', token: mskIamToken }
  const error = await failureOf(clusterWith({ brokers: [kafka.sasl], sasl }))
  vi.unstubAllEnvs()
  expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
})

test('a token that cannot be had is not taken for one refused', async () => {
  const token = () => mskIamToken({})
  const error = await failureOf(clusterWith({ brokers: [kafka.sasl], sasl: { mechanism: 'oauthbearer', token } }))
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('AWS_REGION') })
})

test('a token that has expired is refused as such', async () => {
  const sasl: SaslConfig = { mechanism: 'oauthbearer', token: async () => unsignedToken(-60) }
  expect(await failureOf(clusterWith({ brokers: [kafka.sasl], sasl }))).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
})

test('a mechanism that the broker does not offer is named as such', async () => {
  const sasl: SaslConfig = { mechanism: 'oauthbearer', token: async () => unsignedToken(60) }
  const error = await failureOf(clusterWith({ brokers: [kafka.saslTls], tls: { ca: kafka.ca }, sasl }))
  expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
  expect(error.message).toContain('oauthbearer')
})

test('a certificate that nobody vouches for is refused', async () => {
  const error = await failureOf(clusterWith({ brokers: [kafka.tls], tls: true }))
  expect(error).toMatchObject({ code: 'BROKER_UNTRUSTED', disposition: 'fix-config' })
  expect(error.message).toContain("give the authority that signed the broker's certificate")
})

test.each<[what: string, listener: 'expired' | 'elsewhere', fix: string]>([
  ['has expired', 'expired', "renew the broker's certificate"],
  ['is for another host', 'elsewhere', 'use a broker address that its certificate names'],
])("a broker's certificate that %s is refused with what mends it", async (_what, listener, fix) => {
  const error = await failureOf(clusterWith({ brokers: [kafka[listener]], tls: { ca: kafka.ca } }))
  expect(error).toMatchObject({ code: 'BROKER_UNTRUSTED', disposition: 'fix-config' })
  expect(error.message).toContain(fix)
})

describe('a listener that asks for certificates', () => {
  const shown = (client?: Certificate) =>
    clusterWith({
      brokers: [kafka.mutualTls],
      tls: { ca: kafka.ca, ...(client && { cert: client.certificate, key: client.privateKey }) },
    })

  test('takes one of its authority', async () => {
    const cluster = shown(kafka.authority.issue({ name: 'relay' }))
    expect(await cluster.clusterId(within(5_000))).toBe('c2VjdXJlZC1rYWZrYS0wMQ')
  })

  test.each<[what: string, client: () => Certificate | undefined]>([
    ['none', () => undefined],
    ['one that has expired', () => kafka.authority.issue({ name: 'relay', validUntil: new Date(Date.now() - 60_000) })],
    ['one of another authority', () => certificateAuthority('Somebody else').issue({ name: 'relay' })],
  ])('refuses %s', async (_what, client) => {
    const error = await failureOf(shown(client()))
    expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED', disposition: 'fix-config' })
    expect(error.message).toContain('refused our certificate, or the lack of one')
  })
})

test.each([
  ['plain text to a TLS listener', (): Omit<KafkaConnectionConfig, 'clientId'> => ({ brokers: [kafka.tls] })],
  ['TLS to a plain listener', () => ({ brokers: [kafka.plain], tls: true })],
  ['no SASL to a SASL listener', () => ({ brokers: [kafka.sasl] })],
])('%s ends soon and as unavailable', async (_name, config) => {
  expect(await failureOf(clusterWith(config()))).toMatchObject({ code: 'BROKER_UNAVAILABLE' })
})

test('a listener that accepts no more connections for now is unavailable when the time to connect is over', async () => {
  const [first, second] = [5_000, 500].map((connectTimeoutMs) =>
    createKafkaTransport({ clientId: 'fencepost-test', brokers: [kafka.crowded], connectTimeoutMs }),
  ) as [Transport, Transport]
  const [node] = first.bootstrap as [NodeAddress]
  await first.capabilities(node, within(5_000))
  const error = await second.capabilities(node, within(5_000)).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ reason: 'connect', sent: false, message: expect.stringContaining('within 500 ms') })
  await Promise.all([first.close(), second.close()])
})

test('an authenticated session is renewed before the broker ends it', async () => {
  const cluster = clusterWith({ brokers: [kafka.sasl], sasl: ann })
  for (const end = within(2 * sessionMs); end.remainingMs() > 0; await systemClock.sleep(50)) {
    const answer = await cluster.request(
      { to: 'any' },
      'DescribeCluster',
      { includeClusterAuthorizedOperations: false },
      within(5_000),
    )
    expect(answer.body.errorCode).toBe(0)
  }
})

/** The last test: the broker takes a while to notice that so many connections were closed. */
test('a broker at its connection limit is not taken for wrong credentials, and nothing was sent to it', async () => {
  const config = { clientId: 'fencepost-test', brokers: [kafka.sasl], sasl: ann }
  const transports = Array.from({ length: connectionsMax + 1 }, () => createKafkaTransport(config))
  const tries = await Promise.allSettled(
    transports.map((transport) => transport.capabilities(transport.bootstrap[0] as NodeAddress, within(10_000))),
  )
  await Promise.all(transports.map((transport) => transport.close()))
  const refused = tries.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(TransportError)
    expect(reason).toMatchObject({ reason: 'throttled', sent: false })
  }
})
