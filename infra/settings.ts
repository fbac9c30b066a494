import * as v from 'valibot'
import { parseAddress } from '../lib/kafka/connection-config.ts'
import { isLegalName, isLegalRelayName, nameRule, relayNameRule } from '../lib/transaction/ids.ts'
import { durationMs } from '../lib/units.ts'

const text = v.pipe(v.string('some text'), v.nonEmpty('some text'))
const matching = (pattern: RegExp, wanted: string) => v.pipe(v.string(wanted), v.regex(pattern, wanted))
const whole = (least: number, most: number) => {
  const wanted = `a whole number from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`
  return v.pipe(v.number(wanted), v.integer(wanted), v.minValue(least, wanted), v.maxValue(most, wanted))
}

/** `5s` or `15m` as milliseconds. Bounds are written the same way. */
const duration = (least: string, most: string) => {
  const wanted = `a duration from ${least} to ${most}, such as 500ms, 5s or 15m`
  return v.pipe(
    v.string(wanted),
    v.transform((written) => durationMs(written) ?? Number.NaN),
    v.check((ms) => ms >= Number(durationMs(least)) && ms <= Number(durationMs(most)), wanted),
  )
}

const secretArn = matching(
  /^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:.+$/,
  'the ARN of a Secrets Manager secret, with its six-character suffix',
)
const clusterArn = matching(
  /^arn:[\w-]+:kafka:[\w-]+:\d{12}:cluster\/[^/]+\/[^/]+$/,
  'the ARN of an MSK cluster, arn:aws:kafka:<region>:<account>:cluster/<name>/<uuid>',
)
const keyArn = matching(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/.+$/, 'the ARN of a KMS key')
const topicArn = matching(/^arn:[\w-]+:sns:[\w-]+:\d{12}:.+$/, 'the ARN of an SNS topic')
const parameterName = matching(/^\/?[\w./-]+$/, 'the name of an SSM parameter, for example /shop/kafka/brokers')

const brokersWanted = "'host:port', several divided by commas, or { ssm: <parameter name> }"
const brokers = v.union(
  [
    v.pipe(
      v.string(),
      v.transform((list) => list.split(',').map((address) => address.trim())),
      v.check((list) => list.every(isAddress), brokersWanted),
    ),
    v.strictObject({ ssm: parameterName }),
  ],
  brokersWanted,
)

function isAddress(address: string): boolean {
  try {
    return Boolean(parseAddress(address))
  } catch {
    return false
  }
}

/** How functions and event source mappings log in: exactly one of these, or nothing for an open cluster. */
const auth = v.union(
  [
    v.strictObject({ scram512: secretArn }),
    v.strictObject({ scram256: secretArn }),
    v.strictObject({ plain: secretArn }),
    v.strictObject({ mtls: secretArn }),
    v.strictObject({ iam: v.literal(true) }),
  ],
  'one of { scram512 | scram256 | plain | mtls: <secret ARN> } or { iam: true }',
)

const vpc = v.strictObject({
  subnetIds: v.pipe(v.array(text), v.minLength(1, 'at least one subnet')),
  securityGroupIds: v.pipe(v.array(text), v.minLength(1, 'at least one security group')),
})

export const triggers = ['pull', 'linger', 'events', 'provisioned'] as const
export type TriggerKind = (typeof triggers)[number]

const limits = v.strictObject({
  connectionsPerBroker: whole(10, 1_000_000),
  connectionsPerSecond: v.optional(whole(1, 100_000)),
  share: v.optional(v.pipe(v.number('a number'), v.gtValue(0, 'above 0'), v.maxValue(1, 'at most 1')), 0.5),
})

/** Lambda looks at nothing but the value of a Kafka record: with another field no record would match. */
const pattern = v.strictObject({ value: v.union([v.looseObject({}), v.array(v.unknown())], 'a pattern') })

const relay = v.strictObject({
  latency: v.optional(duration('0ms', '1d'), '5s'),
  trigger: v.optional(v.picklist(triggers, `one of ${triggers.join(', ')}`)),
  module: v.optional(text),
  memory: v.optional(whole(128, 10_240), 512),
  timeout: v.optional(duration('10s', '14m'), '60s'),
  concurrency: v.optional(whole(1, 1_000)),
  batchSize: v.optional(whole(1, 10_000), 10_000),
  startingPosition: v.optional(v.picklist(['TRIM_HORIZON', 'LATEST'], 'TRIM_HORIZON or LATEST'), 'TRIM_HORIZON'),
  pollers: v.optional(
    v.strictObject({
      min: v.optional(whole(1, 200), 1),
      max: v.optional(whole(1, 2_000), 10),
      group: v.optional(matching(/^[\w-]{1,128}$/, 'up to 128 letters, digits, dashes and underscores')),
    }),
  ),
  filter: v.optional(
    v.pipe(v.array(pattern), v.maxLength(20, 'at most 20 patterns, the bound of Lambda (5 unless raised)')),
    [],
  ),
  lagAlarm: v.optional(whole(1, Number.MAX_SAFE_INTEGER), 100_000),
  environment: v.optional(v.record(matching(/^[A-Za-z]\w*$/, 'a variable name'), v.string('text')), {}),
})

/** What CloudWatch Logs takes (PutRetentionPolicy). */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288, 3_653,
]

/** `custom.fencepost` of a serverless.yml. docs/operations/deploy.md tells what each setting is for. */
export const deploymentSettings = v.strictObject({
  prefix: v.pipe(v.string(nameRule), v.check(isLegalName, nameRule)),
  brokers,
  msk: v.optional(clusterArn),
  auth: v.optional(auth),
  privateCa: v.optional(secretArn),
  kmsKey: v.optional(keyArn),
  vpc: v.optional(vpc),
  limits: v.optional(limits),
  protect: v.optional(v.boolean('true or false'), true),
  snapshots: v.optional(v.boolean('true or false'), false),
  acceptWeakTopics: v.optional(v.boolean('true or false'), false),
  sweep: v.optional(duration('1m', '8h'), '15m'),
  logRetentionDays: v.optional(v.picklist(retentionDays, `one of ${retentionDays.join(', ')}`), 30),
  alarms: v.optional(v.union([v.boolean(), v.strictObject({ topic: topicArn })], 'true, false or { topic }'), true),
  dashboard: v.optional(v.boolean('true or false'), true),
  generation: v.optional(whole(0, Number.MAX_SAFE_INTEGER)),
  relays: v.pipe(
    v.record(v.pipe(v.string(), v.check(isLegalRelayName, relayNameRule)), relay),
    v.check((relays) => Object.keys(relays).length > 0, 'at least one relay'),
  ),
})

export type DeploymentSettings = v.InferOutput<typeof deploymentSettings>
export type RelaySettings = v.InferOutput<typeof relay>
export type Auth = v.InferOutput<typeof auth>
