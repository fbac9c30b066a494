/** The bundled function on a secured broker, its secrets read by the AWS SDK, as they are when somebody changes them. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureFenceTable } from '../../../lib/fencing/ensure-fence-store.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import { createLambdaHost, type LambdaHost } from '../../../lib/local/lambda-host/lambda-host.ts'
import { type AwsSecrets, startAwsSecrets } from '../../helpers/aws-secrets.ts'
import type { Certificate } from '../../helpers/certificates.ts'
import { clusterAt } from '../../helpers/kafka-client.ts'
import { readCommitted } from '../../helpers/read-committed.ts'
import { type SecuredKafka, startSecuredKafka } from '../../helpers/secured-kafka.ts'
import { dynamoDbEndpoint, freshName } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'
import { appendRecords } from '../../helpers/writing.ts'

const module = join(import.meta.dirname, '..', '..', 'helpers', 'odd-relay.ts')
const table = 'fencepost-security'
/** Shorter than it takes to change a password, so that the next invocation has to log in again. */
const sessionMs = 1_000

let dir: string
let kafka: SecuredKafka
let aws: AwsSecrets
let host: LambdaHost
let cluster: Cluster

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-security-'))
  ;[kafka, aws] = await Promise.all([startSecuredKafka(dir, { sessionMs }), startAwsSecrets()])
  await bundleRelay(module, 'pull', join(dir, 'function'))
  host = createLambdaHost({ logDir: join(dir, 'logs') })
  cluster = clusterAt([kafka.plain])
  await ensureFenceTable({ table, ...(await dynamoDbEndpoint()) })
})
afterAll(async () => {
  await host?.stop()
  await cluster?.close()
  await Promise.all([kafka?.stop(), aws?.stop()])
  await rm(dir, { recursive: true, force: true })
})

/** A function for topics of its own, on one of the broker's listeners. */
async function deployed(brokers: string, security: Readonly<Record<string, string>>) {
  const [source, output, dead] = await Promise.all(
    ['source', 'output', 'dead'].map((name) => createTopic([kafka.plain], name)),
  )
  const { endpoint } = await dynamoDbEndpoint()
  const name = freshName('secured')
  const env = {
    ...aws.env,
    TEST_SOURCE: source ?? '',
    TEST_OUTPUT: output ?? '',
    TEST_DEAD: dead ?? '',
    FENCEPOST_PREFIX: name,
    FENCEPOST_BROKERS: brokers,
    FENCEPOST_TABLE: table,
    FENCEPOST_TABLE_ENDPOINT: endpoint,
    FENCEPOST_TRANSACTION_TIMEOUT_MS: '60000',
    FENCEPOST_TLS: 'true',
    POWERTOOLS_LOG_LEVEL: 'DEBUG',
    ...security,
  }
  const code = { bundleDir: join(dir, 'function') }
  await host.deploy({ name, code, handler: 'index.handler', timeoutMs: 20_000, env })
  return {
    write: (...values: number[]) =>
      appendRecords(
        cluster,
        { topic: source ?? '', partition: 0 },
        values.map((value) => ({ value: Buffer.from(String(value)) })),
      ),
    invoke: () => host.invoke(name, {}),
    delivered: () => readCommitted(cluster, output ?? '', 1),
  }
}

const login = (password: string): string => JSON.stringify({ username: 'eve', password })
const clientSecret = ({ certificate, privateKey }: Certificate): string => JSON.stringify({ certificate, privateKey })
const askedFor = (name: string): number => aws.asked.filter((asked) => asked === name).length

async function logs(): Promise<string> {
  const files = await readdir(join(dir, 'logs'), { recursive: true, withFileTypes: true })
  const texts = files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8'))
  return (await Promise.all(texts)).join('\n')
}

test('a password that is rotated while the function is warm is read once more; the lane goes on, nothing is lost', async () => {
  aws.set('kafka/login', login('secret'))
  aws.set('/kafka/ca', kafka.ca)
  const relay = await deployed(kafka.saslTls, {
    FENCEPOST_TLS_CA_SECRET: 'ssm:/kafka/ca',
    FENCEPOST_SASL_MECHANISM: 'scram-sha-512',
    FENCEPOST_SASL_SECRET: 'secretsmanager:kafka/login',
  })
  await relay.write(1, 2, 3)
  expect(await relay.invoke()).toMatchObject({ status: 'success', cold: true })
  expect(askedFor('kafka/login')).toBe(1)

  await kafka.changePassword('rotated-7f3a')
  await relay.write(4, 5)
  const refused = await relay.invoke()
  expect(refused).toMatchObject({ status: 'error', cold: false })
  expect(JSON.stringify(refused.payload)).toContain('AUTHENTICATION_FAILED')
  expect(await relay.delivered()).toEqual(['1', '2', '3'])
  const [askedBefore, caBefore] = [askedFor('kafka/login'), askedFor('/kafka/ca')]

  aws.set('kafka/login', login('rotated-7f3a'))
  expect(await relay.invoke()).toMatchObject({ status: 'success', cold: false })
  expect(await relay.delivered()).toEqual(['1', '2', '3', '4', '5'])
  expect(askedFor('kafka/login')).toBe(askedBefore + 1)
  expect(askedFor('/kafka/ca')).toBe(caBefore + 1)
  expect(await logs()).not.toContain('rotated-7f3a')
  await kafka.changePassword('secret')
})

test('a password that is rotated while records keep coming costs invocations, and no record', async () => {
  aws.set('kafka/login', login('secret'))
  const relay = await deployed(kafka.saslTls, {
    FENCEPOST_TLS_CA: kafka.ca,
    FENCEPOST_SASL_MECHANISM: 'scram-sha-512',
    FENCEPOST_SASL_SECRET: 'secretsmanager:kafka/login',
  })
  const askedBefore = askedFor('kafka/login')
  const rotating = kafka.changePassword('rotated-20d4').then(() => aws.set('kafka/login', login('rotated-20d4')))
  let written = 0
  let status = ''
  while (written < 50_000 && !(status === 'success' && askedFor('kafka/login') > askedBefore + 1)) {
    await relay.write(...Array.from({ length: 50 }, () => written++))
    status = (await relay.invoke()).status
  }
  await rotating
  expect(status).toBe('success')
  expect(await relay.delivered()).toEqual(Array.from({ length: written }, (_, value) => String(value)))
  await kafka.changePassword('secret')
})

test('a wrong password is named without being shown, in logs and answers', async () => {
  const password = 'hunter2-9c1e'
  const relay = await deployed(kafka.saslTls, {
    FENCEPOST_TLS_CA: kafka.ca,
    FENCEPOST_SASL_MECHANISM: 'plain',
    FENCEPOST_SASL_USERNAME: 'ann',
    FENCEPOST_SASL_PASSWORD: password,
  })
  const { status, payload } = await relay.invoke()
  expect(status).toBe('error')
  const said = JSON.stringify(payload) + (await logs())
  expect(said).toContain('AUTHENTICATION_FAILED')
  expect(said).not.toContain(password)
})

test('a client certificate that has expired is refused; the one that replaces it in its secret is taken', async () => {
  const { authority } = kafka
  aws.set('kafka/client', clientSecret(authority.issue({ name: 'relay', validUntil: new Date(Date.now() - 60_000) })))
  const relay = await deployed(kafka.mutualTls, {
    FENCEPOST_TLS_CA: kafka.ca,
    FENCEPOST_TLS_CLIENT_SECRET: 'secretsmanager:kafka/client',
  })
  await relay.write(1)
  const refused = await relay.invoke()
  expect(JSON.stringify(refused.payload)).toContain('refused our certificate')

  const fresh = authority.issue({ name: 'relay' })
  aws.set('kafka/client', clientSecret(fresh))
  expect(await relay.invoke()).toMatchObject({ status: 'success' })
  expect(await relay.delivered()).toEqual(['1'])
  expect(await logs()).not.toContain(fresh.privateKey.split('\n')[1])
})

test('a secret that may not be read is named with what to allow, and nothing is asked of the broker', async () => {
  aws.fail('AccessDeniedException')
  const relay = await deployed(kafka.saslTls, {
    FENCEPOST_TLS_CA: kafka.ca,
    FENCEPOST_SASL_MECHANISM: 'scram-sha-512',
    FENCEPOST_SASL_SECRET: 'secretsmanager:kafka/login',
  })
  const { payload } = await relay.invoke()
  aws.fail(null)
  expect(JSON.stringify(payload)).toContain('SECRET_UNREADABLE: secret secretsmanager:kafka/login cannot be read')
})
