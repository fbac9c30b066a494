import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { systemClock, systemRandom } from '../clock.ts'
import { messageOf, RelayError } from '../errors.ts'
import { createDynamoDbFenceStore } from '../fencing/dynamodb-fence-store.ts'
import { createCluster } from '../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../kafka/kafkajs-transport.ts'
import { aclCommand, kafkaAcls } from '../preflight/acls.ts'
import { readBucket } from '../preflight/facts/bucket-store.ts'
import type { MappingFacts } from '../preflight/facts/facts.ts'
import { mappingsOfAccount } from '../preflight/facts/mapping-store.ts'
import { readTable } from '../preflight/facts/table-store.ts'
import { mappingsOfTemplate, sweepEveryMsOf } from '../preflight/facts/template.ts'
import { preflight as examine, type PreflightReport } from '../preflight/preflight.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { minutes } from '../units.ts'
import { askDeadline, environmentHelp, untilInterrupted } from './deployment.ts'
import { loadRelay } from './load-relay.ts'
import { brokersOption, dirOption, duration, jsonOption } from './options.ts'
import { type Place, type PlaceOptions, placeOf, storePlace } from './preflight-place.ts'
import { preflightLines } from './preflight-text.ts'
import { securityOptions } from './security-options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends PlaceOptions {
  readonly template?: string
  readonly function?: readonly string[]
  readonly sweepEvery?: number
  readonly acls?: string | true
  readonly json?: boolean
}

/** As `serverless.yml` has it unless it says otherwise. */
const sweepEveryMsDefault = minutes(15)

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
    .option(
      '--sweep-every <duration>',
      "how often the sweep rings (default: the template's, else 15m)",
      duration('1m', '7d'),
    )
    .option('--accept-weak-topics', 'accept topics that lose records with a single broker')
    .option('--acls [principal]', 'print the Kafka ACLs that the relays need, as commands, and do nothing else')
    .addOption(dirOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options, command: Command) =>
      options.acls ? printAcls(options, command, terminal) : preflight(options, terminal),
    )
}

async function preflight(options: Options, terminal: Terminal): Promise<void> {
  const place = await placeOf(options)
  const relays = await Promise.all(place.relays.map(loadRelay))
  const template = options.template === undefined ? null : await readTemplate(options.template)
  const mappings = [...mappingsOfTemplate(template), ...(await mappingsOfAccount(options.function ?? [], {}))]
  const sweepEveryMs = options.sweepEvery ?? sweepEveryMsOf(template) ?? sweepEveryMsDefault
  const report = await untilInterrupted(terminal, examineAt(place, relays, mappings, sweepEveryMs))
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
