import * as v from 'valibot'
import { parseAddress } from '../../kafka/connection-config.ts'
import { wholeNumberFrom } from '../../problems.ts'
import { isSecretReference, secretReferenceRule } from '../../secrets/secret-reference.ts'
import { isLegalName, nameRule } from '../../transaction/ids.ts'

/** One environment variable: how its text becomes a value, and what docs/reference/settings.md says of it. */
export interface Setting<Value> {
  readonly env: string
  readonly about: string
  readonly example: string
  readonly schema: v.GenericSchema<string, Value>
  /** Text that stands when the variable is missing or empty. Without it the setting is required, unless `optional`. */
  readonly byDefault?: string
  readonly optional?: true
  /** Never shown in messages. */
  readonly secret?: true
}

const required = <Value>(setting: Setting<Value>): Setting<Value> => setting
const optional = <Value>(setting: Setting<Value>): Setting<Value | undefined> => ({ ...setting, optional: true })

const text = v.pipe(v.string(), v.nonEmpty('some text'))
const name = v.pipe(v.string(), v.check(isLegalName, nameRule))
const yesOrNo = v.pipe(
  v.picklist(['true', 'false'], "'true' or 'false'"),
  v.transform((value) => value === 'true'),
)
const pem = v.pipe(v.string(), v.startsWith('-----BEGIN ', "PEM text, beginning with '-----BEGIN '"))

const secretReference = v.pipe(v.string(), v.check(isSecretReference, secretReferenceRule))

/** How to log in to Kafka, in the order in which messages list them. */
const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512', 'aws-msk-iam'] as const

const wholeNumber = (least: number, most: number) => {
  const wanted = () => wholeNumberFrom(least, most)
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, wanted),
    v.transform(Number),
    v.minValue(least, wanted),
    v.maxValue(most, wanted),
  )
}

const addresses = v.pipe(
  v.string(),
  v.transform((list) => list.split(',').map((address) => address.trim())),
  v.check((list) => list.every(isAddress), "'host:port', several divided by commas"),
)

function isAddress(address: string): boolean {
  try {
    return Boolean(parseAddress(address))
  } catch {
    return false
  }
}

/** All settings of a deployment, in the order in which the reference lists them. */
export const settings = {
  prefix: required({
    env: 'FENCEPOST_PREFIX',
    about:
      'Transactional ids and commit groups start with it. Unique per deployment, and the same for ever: two deployments ' +
      'that share it fence each other, one that changes it starts from the beginning.',
    example: 'shop-prod',
    schema: name,
  }),
  brokers: required({
    env: 'FENCEPOST_BROKERS',
    about: 'Addresses of the Kafka cluster to begin with.',
    example: 'b-1.shop.example.com:9096,b-2.shop.example.com:9096',
    schema: addresses,
  }),
  table: required({
    env: 'FENCEPOST_TABLE',
    about: 'Name of the DynamoDB table that holds the fence records.',
    example: 'fencepost-prod-fences',
    schema: text,
  }),
  tableEndpoint: optional({
    env: 'FENCEPOST_TABLE_ENDPOINT',
    about: "Replaces the region's own DynamoDB endpoint.",
    example: 'http://127.0.0.1:8000',
    schema: v.pipe(v.string(), v.url('a URL')),
  }),
  clientId: required({
    env: 'FENCEPOST_CLIENT_ID',
    about: "Names this deployment in the brokers' logs and quotas.",
    example: 'fencepost',
    byDefault: 'fencepost',
    schema: text,
  }),
  tls: optional({
    env: 'FENCEPOST_TLS',
    about: 'Whether connections to Kafka are encrypted. Default false; must be said either way where SASL is used.',
    example: 'true',
    schema: yesOrNo,
  }),
  tlsCa: optional({
    env: 'FENCEPOST_TLS_CA',
    about: "Certificate authorities to trust instead of the system's.",
    example: '-----BEGIN CERTIFICATE-----...',
    schema: pem,
  }),
  tlsCaSecret: optional({
    env: 'FENCEPOST_TLS_CA_SECRET',
    about: 'Secret that holds them instead: PEM text, or JSON with `certificate`.',
    example: 'secretsmanager:shop/kafka-ca',
    schema: secretReference,
  }),
  tlsCertificate: optional({
    env: 'FENCEPOST_TLS_CERTIFICATE',
    about: 'Certificate of this client, for mutual TLS.',
    example: '-----BEGIN CERTIFICATE-----...',
    schema: pem,
  }),
  tlsKey: optional({
    env: 'FENCEPOST_TLS_KEY',
    about: 'Private key of that certificate.',
    example: '-----BEGIN PRIVATE KEY-----...',
    secret: true,
    schema: pem,
  }),
  tlsKeyPassphrase: optional({
    env: 'FENCEPOST_TLS_KEY_PASSPHRASE',
    about: 'Passphrase of that key, where it has one.',
    example: '(secret)',
    secret: true,
    schema: text,
  }),
  tlsClientSecret: optional({
    env: 'FENCEPOST_TLS_CLIENT_SECRET',
    about:
      'Secret that holds certificate and key instead: JSON with `certificate`, `privateKey` and, where the key has one, ' +
      '`privateKeyPassword`, as event source mappings take it.',
    example: 'secretsmanager:shop/kafka-client',
    schema: secretReference,
  }),
  saslMechanism: optional({
    env: 'FENCEPOST_SASL_MECHANISM',
    about: `How to log in to Kafka: \`${mechanisms.join('`, `')}\`. The last takes the role of the function.`,
    example: 'scram-sha-512',
    schema: v.picklist(mechanisms, mechanisms.map((mechanism) => `'${mechanism}'`).join(' or ')),
  }),
  saslUsername: optional({
    env: 'FENCEPOST_SASL_USERNAME',
    about: 'User to log in as.',
    example: 'relay',
    schema: text,
  }),
  saslPassword: optional({
    env: 'FENCEPOST_SASL_PASSWORD',
    about: 'Password of that user.',
    example: '(secret)',
    secret: true,
    schema: text,
  }),
  saslSecret: optional({
    env: 'FENCEPOST_SASL_SECRET',
    about:
      'Secret that holds both instead: JSON with `username` and `password`, as MSK and event source mappings take it.',
    example: 'secretsmanager:AmazonMSK_relay',
    schema: secretReference,
  }),
  registryUrl: optional({
    env: 'FENCEPOST_REGISTRY_URL',
    about: 'Schema registry (Confluent API) of the codecs avro(), protobuf() and jsonSchema() that name none.',
    example: 'https://registry.example.com',
    schema: v.pipe(v.string(), v.url('a URL')),
  }),
  registryUsername: optional({
    env: 'FENCEPOST_REGISTRY_USERNAME',
    about: 'User, or API key, for the registry.',
    example: 'relay',
    schema: text,
  }),
  registryPassword: optional({
    env: 'FENCEPOST_REGISTRY_PASSWORD',
    about: 'Password, or API secret, of that user.',
    example: '(secret)',
    secret: true,
    schema: text,
  }),
  registrySecret: optional({
    env: 'FENCEPOST_REGISTRY_SECRET',
    about: 'Secret that holds both instead: JSON with `username` and `password`.',
    example: 'ssm:/shop/registry',
    schema: secretReference,
  }),
  rack: required({
    env: 'FENCEPOST_RACK',
    about: 'Availability zone, for reads from the nearest replica. Empty: reads go to the leader.',
    example: 'euw1-az1',
    byDefault: '',
    schema: v.string(),
  }),
  transactionTimeoutMs: required({
    env: 'FENCEPOST_TRANSACTION_TIMEOUT_MS',
    about:
      'After which the broker aborts a transaction that was left open. Above the function timeout, at most the ' +
      "broker's transaction.max.timeout.ms (15 minutes unless changed).",
    example: '900000',
    byDefault: '900000',
    schema: wholeNumber(10_000, 900_000),
  }),
  commitReserveMs: required({
    env: 'FENCEPOST_COMMIT_RESERVE_MS',
    about: 'Time kept free at the end of an invocation, for a commit or for giving up in order.',
    example: '2000',
    byDefault: '2000',
    schema: wholeNumber(100, 60_000),
  }),
  leaseMs: required({
    env: 'FENCEPOST_LEASE_MS',
    about: 'After which another function may take a lane whose owner fell silent.',
    example: '5000',
    byDefault: '5000',
    schema: wholeNumber(1_000, 600_000),
  }),
  renewEveryMs: required({
    env: 'FENCEPOST_RENEW_EVERY_MS',
    about: 'How often a working owner renews its lease.',
    example: '2000',
    byDefault: '2000',
    schema: wholeNumber(100, 300_000),
  }),
  generation: required({
    env: 'FENCEPOST_GENERATION',
    about: 'Number of the deployment, counted up by each: containers of an older one stand down.',
    example: '7',
    byDefault: '0',
    schema: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  }),
  linger: required({
    env: 'FENCEPOST_LINGER',
    about:
      'Whether a pull function goes on tailing its source until its time is up, instead of ending when it has caught up.',
    example: 'true',
    byDefault: 'false',
    schema: yesOrNo,
  }),
  partialFailures: required({
    env: 'FENCEPOST_PARTIAL_FAILURES',
    about:
      'Whether the event source mapping has ReportBatchItemFailures: failed lanes are then named, the others are not ' +
      'delivered again. Must agree with the mapping.',
    example: 'true',
    byDefault: 'false',
    schema: yesOrNo,
  }),
  acceptWeakTopics: required({
    env: 'FENCEPOST_ACCEPT_WEAK_TOPICS',
    about:
      'Whether to work with topics that lose acknowledged records with a single broker: min.insync.replicas 1, or unclean ' +
      'leader election. The promise then holds only as long as no broker loses its disk.',
    example: 'true',
    byDefault: 'false',
    schema: yesOrNo,
  }),
} as const

type Settings = typeof settings

/** The value of every setting, by name. */
export type SettingValues = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never
}
