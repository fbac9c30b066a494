import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { systemClock, systemRandom } from '../clock.ts'
import { messageOf, RelayError } from '../errors.ts'
import { createDynamoDbFenceStore } from '../fencing/dynamodb-fence-store.ts'
import type { KafkaConnectionConfig } from '../kafka/connection-config.ts'
import { createCluster } from '../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../kafka/kafkajs-transport.ts'
import { findRunningStack, type RunningStack } from '../local/dev/running-stack.ts'
import { aclCommand, kafkaAcls } from '../preflight/acls.ts'
import { readBucket } from '../preflight/facts/bucket-store.ts'
import type { MappingFacts } from '../preflight/facts/facts.ts'
import { mappingsOfAccount } from '../preflight/facts/mapping-store.ts'
import { type AwsPlace, readTable } from '../preflight/facts/table-store.ts'
import { mappingsOfTemplate } from '../preflight/facts/template.ts'
import { preflight as examine, type PreflightReport } from '../preflight/preflight.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { parseDeploymentConfig } from '../relay/config/config.ts'
import { secured } from '../relay/connect-deployment.ts'
import { minutes } from '../units.ts'
import { askDeadline, environmentHelp, environmentOf, untilInterrupted } from './deployment.ts'
import { loadRelay } from './load-relay.ts'
import { brokersOption, dirOption, duration, jsonOption } from './options.ts'
import { preflightLines } from './preflight-text.ts'
import { type SecurityOptions, securityOptions } from './security-options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends SecurityOptions {
  readonly relay?: readonly string[]
  readonly prefix?: string
  readonly brokers?: readonly string[]
  readonly table?: string
  readonly bucket?: string
  readonly template?: string
  readonly function?: readonly string[]
  readonly sweepEvery: number
  readonly acceptWeakTopics?: boolean
  readonly acls?: string | true
  readonly dir: string
  readonly json?: boolean
}

const help = `
Asks brokers, fence table and event source mappings for everything that the promise rests on, and says at once all that
is wrong, with what was found, what is wanted, and the fix. Only reads; changes nothing, and may run beside the relay.
Each check is ok, warn, fail, or unknown where the service hides the setting.
Exit code: 0 nothing fails, 1 something does or nothing can be told, 2 usage.
${environmentHelp}
Without any of them, the stack that a \`fencepost dev\` runs here, with its relays, is looked at.

Examples:
  $ fencepost preflight                                        beside fencepost dev
  $ fencepost preflight --relay relays/delays.ts --prefix shop-prod --brokers b-1:9092 --table shop-fences
  $ fencepost preflight --relay relays/*.ts --template .serverless/cloudformation-template-update-stack.json
  $ fencepost preflight --relay relays/delays.ts --function shop-prod-delays     mappings as the account has them
  $ fencepost preflight --relay relays/delays.ts --acls User:shop                the ACLs that it needs, as commands
  $ fencepost preflight --json | jq '.checks[] | select(.status == "fail")'`

/** `fencepost preflight`: what is wrong with a deployment, before it runs. */
export function preflightCommand(terminal: Terminal): Command {
  return securityOptions(new Command('preflight'))
    .option('--relay <modules...>', 'the modules whose default exports are the relays')
    .option('--prefix <prefix>', 'of the deployment')
    .addOption(brokersOption())
    .option('--table <name>', 'the fence table')
    .option('--bucket <name>', 'the snapshot bucket, where there is one')
    .option('--template <file>', 'a packaged CloudFormation template (JSON): its event source mappings')
    .option('--function <names...>', 'deployed functions: their event source mappings')
    .option('--sweep-every <duration>', 'how often the sweep rings', duration('1m', '7d'), minutes(15))
    .option('--accept-weak-topics', 'accept topics that lose records with a single broker')
    .option('--acls [principal]', 'print the Kafka ACLs that the relays need, as commands, and do nothing else')
    .addOption(dirOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options, command: Command) =>
      options.acls ? printAcls(options, command, terminal) : preflight(options, terminal),
    )
}

/** Where the deployment is, whether it is known from an environment or from a stack that runs here. */
interface Place {
  readonly prefix: string
  readonly kafka: KafkaConnectionConfig
  readonly table: string
  readonly dynamoDb: AwsPlace
  readonly s3: AwsPlace
  readonly bucket: string | null
  readonly relays: readonly string[]
  readonly transactionTimeoutMs: number
  readonly partialFailures: boolean
  readonly weakTopicsAccepted: boolean
  readonly localStores: boolean
}

async function preflight(options: Options, terminal: Terminal): Promise<void> {
  const place = await placeOf(options)
  const relays = await Promise.all(place.relays.map(loadRelay))
  const mappings = await mappingsOf(options)
  const report = await untilInterrupted(terminal, examineAt(place, relays, mappings, options.sweepEvery))
  const lines = options.json ? [JSON.stringify(report)] : preflightLines(report, terminal)
  for (const line of lines) terminal.out(line)
  if (!report.ok) throw new CommandFailed()
}

async function examineAt(
  place: Place,
  relays: readonly CompiledRelay[],
  mappings: readonly MappingFacts[],
  sweepEveryMs: number,
): Promise<PreflightReport> {
  const { table, dynamoDb, bucket, s3 } = place
  const cluster = createCluster(createKafkaTransport(place.kafka), systemClock, systemRandom)
  const fences = createDynamoDbFenceStore({ table, ...storePlace(dynamoDb) }, systemClock)
  const stores = {
    table: () => readTable(table, dynamoDb),
    bucket: bucket === null ? null : () => readBucket(bucket, s3),
  }
  try {
    return await examine({ ...place, ...stores, relays, mappings, sweepEveryMs, cluster, fences }, askDeadline())
  } finally {
    fences.close()
    await cluster.close()
  }
}

async function placeOf(options: Options): Promise<Place> {
  const saysWhere = options.brokers !== undefined || Boolean(process.env.FENCEPOST_BROKERS)
  const stack = saysWhere ? null : await findRunningStack(options.dir)
  return stack ? placeOfStack(stack, options) : placeOfEnvironment(options)
}

function placeOfStack(stack: RunningStack, { relay, prefix, acceptWeakTopics = false }: Options): Place {
  const { region, credentials, table, bucket, transactionTimeoutMs, ownBrokers } = stack
  return {
    prefix: prefix ?? stack.prefix,
    kafka: { clientId: 'fencepost-preflight', brokers: stack.brokers },
    table,
    dynamoDb: { endpoint: stack.dynamoDb, region, credentials },
    s3: { endpoint: stack.s3, region, credentials },
    bucket,
    relays: relay ?? stack.relays,
    transactionTimeoutMs,
    partialFailures: false,
    weakTopicsAccepted: acceptWeakTopics || ownBrokers,
    localStores: true,
  }
}

/** @throws RelayError CONFIG_INVALID naming all that is missing */
function placeOfEnvironment(options: Options): Place {
  const { relay = [], bucket = null, acceptWeakTopics = false } = options
  const config = parseDeploymentConfig(environmentOf(options))
  const { table, tableEndpoint, prefix, transactionTimeoutMs, partialFailures } = config
  if (relay.length === 0) {
    throw new RelayError('CONFIG_INVALID', 'no relay is given: name its module with --relay, as in relays/delays.ts')
  }
  return {
    prefix,
    kafka: secured(config),
    table,
    dynamoDb: tableEndpoint === undefined ? {} : { endpoint: tableEndpoint },
    s3: {},
    bucket,
    relays: relay,
    transactionTimeoutMs,
    partialFailures,
    weakTopicsAccepted: acceptWeakTopics || (config.acceptWeakTopics ?? false),
    localStores: false,
  }
}

function storePlace({ endpoint, region, credentials }: AwsPlace) {
  return {
    ...(typeof endpoint === 'string' && { endpoint }),
    ...(typeof region === 'string' && { region }),
    ...(typeof credentials === 'object' && { credentials }),
  }
}

async function mappingsOf({ template, function: functions = [] }: Options): Promise<readonly MappingFacts[]> {
  const packaged = template === undefined ? [] : mappingsOfTemplate(await readTemplate(template))
  return [...packaged, ...(await mappingsOfAccount(functions, {}))]
}

async function readTemplate(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    const message = `template ${file} cannot be read as JSON (${messageOf(cause)}): give the one that serverless package writes`
    throw new RelayError('CONFIG_INVALID', message, { cause })
  }
}

const principalDefault = 'User:<name>'

async function printAcls(
  { relay = [], prefix, acls, json }: Options,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const ofPrefix = prefix ?? process.env.FENCEPOST_PREFIX
  if (relay.length === 0 || !ofPrefix) return command.error('error: --acls needs --relay and --prefix')
  const needed = (await Promise.all(relay.map(loadRelay))).flatMap((each) => kafkaAcls(each, ofPrefix))
  if (json) return terminal.out(JSON.stringify({ ok: true, acls: needed }))
  const principal = acls === true || acls === undefined ? principalDefault : acls
  for (const acl of needed) terminal.out(`${aclCommand(acl, principal)}${acl.required ? '' : '  # optional'}`)
}
