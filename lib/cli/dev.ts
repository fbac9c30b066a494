import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../clock.ts'
import { transactionTimeoutOf } from '../local/deploy-relay.ts'
import { type Dev, startDev } from '../local/dev/dev.ts'
import type { DevSettings } from '../local/dev/dev-relay.ts'
import { noteRunningStack, type RunningStack } from '../local/dev/running-stack.ts'
import type { KafkaVersion } from '../local/kafka-jars.ts'
import { secretVariable } from '../relay/config/secrets.ts'
import { settings } from '../relay/config/settings.ts'
import { brokersOption, dirOption, duration, jsonOption, kafkaOption, portOption, wholeNumber } from './options.ts'
import { bold, type Terminal } from './terminal.ts'

interface DevCommandOptions {
  readonly relay: readonly string[]
  readonly trigger: 'event' | 'pull'
  readonly every: number
  readonly sweepEvery: number
  readonly prefix: string
  readonly timeout: number
  readonly memory: number
  readonly batchSize: number
  readonly window: number
  readonly env: Readonly<Record<string, string>>
  readonly createTopics?: number | true
  readonly kafka: KafkaVersion
  readonly brokers?: readonly string[]
  readonly dir: string
  readonly fresh?: boolean
  readonly json?: boolean
  readonly kafkaPort?: number
  readonly dynamodbPort?: number
  readonly s3Port?: number
}

const partitionsDefault = 4

const help = `
With --relay each relay is bundled and runs as functions do in Lambda: memory limit, timeout, frozen between
invocations, one log per container under <dir>/logs/functions. A change of its files deploys it anew. Its sweep runs
beside it: what events missed and what dead functions left behind is found within --sweep-every.
Secrets and the schema registry are taken from the environment: FENCEPOST_SECRET_<NAME>, FENCEPOST_REGISTRY_URL ...

Examples:
  $ fencepost dev                                                    Kafka, DynamoDB and S3 alone, at free ports
  $ fencepost dev --relay relays/delays.ts --create-topics           and a relay, rung by what is written to its source
  $ fencepost dev --relay relays/a.ts relays/b.ts --trigger pull --every 10s
  $ fencepost dev --relay relays/delays.ts --brokers localhost:9092 --prefix dev-ann
                                                                     with a cluster that runs already
  $ fencepost dev --kafka 3.9 --fresh --kafka-port 9092              the older transaction protocol, without earlier data`

/** `fencepost dev`: the stack and relays on this machine until Ctrl-C. */
export function devCommand(terminal: Terminal): Command {
  return new Command('dev')
    .option('--relay <modules...>', 'modules whose default export is a relay', [])
    .addOption(triggerOption())
    .option('--every <duration>', 'how often a pull rings', duration('100ms', '1d'), 5_000)
    .option('--sweep-every <duration>', 'how often the sweep rings', duration('1s', '1d'), 60_000)
    .option('--prefix <prefix>', 'of transactional ids and commit groups', 'dev')
    .option('--timeout <duration>', 'of the functions', duration('3s', '14m'), 30_000)
    .option('--memory <MB>', 'of the functions', wholeNumber(128, 10_240), 512)
    .option('--batch-size <records>', 'most records in one event', wholeNumber(1, 10_000), 100)
    .option('--window <duration>', 'how long an event collects records', duration('0s', '5m'), 500)
    .option('--env <NAME=value>', 'for the functions; may be repeated', environment, {})
    .option(
      '--create-topics [partitions]',
      `make missing topics, with ${partitionsDefault} partitions`,
      wholeNumber(1, 10_000),
    )
    .addOption(kafkaOption())
    .addOption(brokersOption())
    .addOption(dirOption())
    .option('--fresh', 'delete the data and logs of earlier runs first')
    .addOption(portOption('kafka-port', 'the Kafka broker'))
    .addOption(portOption('dynamodb-port', 'DynamoDB'))
    .addOption(portOption('s3-port', 'S3'))
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: DevCommandOptions, command: Command) => {
      refuseIdleOptions(options, command)
      return dev(options, terminal)
    })
}

const triggerOption = (): Option =>
  new Option('--trigger <kind>', 'event: an event source mapping; pull: a schedule')
    .choices(['event', 'pull'])
    .default('event')

async function dev(options: DevCommandOptions, terminal: Terminal): Promise<void> {
  const running = await startDev({
    dir: options.dir,
    kafka: options.kafka,
    ...(options.brokers ? { brokers: options.brokers } : {}),
    fresh: options.fresh ?? false,
    ports: portsOf(options),
    relays: options.relay,
    settings: settingsOf(options),
    signal: terminal.interrupted,
    log: (line) => terminal.err(`fencepost: ${line}`),
    say: (line) => terminal.err(`${timeOfDay()} ${line}`),
  })
  const forgetIt = await noteRunningStack(options.dir, runningStack(running, options))
  try {
    for (const line of options.json ? [jsonLine(running)] : lines(running, terminal)) terminal.out(line)
    await untilAborted(terminal.interrupted)
    terminal.err('fencepost: stopping')
  } finally {
    await forgetIt()
    await running.stop()
  }
}

/** For commands beside it, such as `fencepost preflight`. */
const runningStack = ({ stack, relays }: Dev, { prefix, timeout }: DevCommandOptions): RunningStack => ({
  pid: process.pid,
  brokers: [...stack.brokers],
  ownBrokers: stack.kafka !== null,
  dynamoDb: stack.dynamoDb.endpoint,
  region: stack.dynamoDb.region,
  credentials: {
    accessKeyId: stack.dynamoDb.credentials.accessKeyId,
    secretAccessKey: stack.dynamoDb.credentials.secretAccessKey,
  },
  table: stack.fenceTable,
  s3: stack.s3.endpoint,
  bucket: stack.bucket,
  prefix,
  relays: relays.map(({ path }) => resolve(path)),
  transactionTimeoutMs: transactionTimeoutOf(timeout),
})

const settingsOf = (options: DevCommandOptions): DevSettings => ({
  prefix: options.prefix,
  ringing:
    options.trigger === 'pull'
      ? { trigger: 'pull', everyMs: options.every }
      : { trigger: 'event', batchSize: options.batchSize, batchingWindowMs: options.window },
  sweepEveryMs: options.sweepEvery,
  timeoutMs: options.timeout,
  memoryMb: options.memory,
  env: { ...passedOn(process.env), ...options.env },
  topicPartitions: options.createTopics === true ? partitionsDefault : (options.createTopics ?? null),
})

const ofRelays = [
  'trigger',
  'every',
  'sweepEvery',
  'prefix',
  'timeout',
  'memory',
  'batchSize',
  'window',
  'env',
  'createTopics',
]
const ofEvents = ['batchSize', 'window']
const ofPulls = ['every']

/** An option that would change nothing is a mistake. */
function refuseIdleOptions(options: DevCommandOptions, command: Command): void {
  const given = (names: readonly string[]) => names.find((name) => command.getOptionValueSource(name) === 'cli')
  const refuse = (name: string | undefined, why: string) => {
    if (name === undefined) return
    const flag = command.options.find((option) => option.attributeName() === name)?.long
    command.error(`error: ${flag} ${why}`)
  }
  if (options.relay.length === 0) refuse(given(ofRelays), 'is about relays: give --relay <module> too.')
  if (options.trigger === 'pull') refuse(given(ofEvents), 'is about events: leave out --trigger pull.')
  else refuse(given(ofPulls), 'is about pulls: give --trigger pull too.')
}

function environment(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError(`"${text}" is not NAME=value.`)
  return { ...before, [name]: value }
}

/** What the stack here cannot know: secrets of relays, and the registry of their codecs. */
function passedOn(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const registry = ['registryUrl', 'registryUsername', 'registryPassword', 'registrySecret'] as const
  const names = new Set<string>(registry.map((name) => settings[name].env))
  const found = Object.entries(env).filter(([name]) => names.has(name) || name.startsWith(secretVariable('')))
  return Object.fromEntries(found.map(([name, value]) => [name, value ?? '']))
}

const portsOf = (options: DevCommandOptions) => ({
  ...(options.kafkaPort === undefined ? {} : { kafka: options.kafkaPort }),
  ...(options.dynamodbPort === undefined ? {} : { dynamoDb: options.dynamodbPort }),
  ...(options.s3Port === undefined ? {} : { s3: options.s3Port }),
})

const jsonLine = ({ stack, relays }: Dev): string =>
  JSON.stringify({
    ok: true,
    pid: process.pid,
    brokers: stack.brokers,
    dynamoDb: stack.dynamoDb.endpoint,
    fenceTable: stack.fenceTable,
    s3: stack.s3.endpoint,
    bucket: stack.bucket,
    dataDir: stack.dataDir,
    logDir: stack.logDir,
    relays: relays.map(({ path, relay, functionName, generation }) => ({
      name: relay.name,
      module: path,
      function: functionName,
      generation,
      source: relay.sourceTopic,
      outputs: relay.outputTopics,
    })),
  })

const lines = ({ stack, relays }: Dev, terminal: Terminal): readonly string[] => [
  `${bold(terminal, 'Kafka')}     ${stack.brokers.join(',')}`,
  `${bold(terminal, 'DynamoDB')}  ${stack.dynamoDb.endpoint}  table ${stack.fenceTable}`,
  `${bold(terminal, 'S3')}        ${stack.s3.endpoint}  bucket ${stack.bucket}`,
  `${bold(terminal, 'Data')}      ${stack.dataDir}`,
  `${bold(terminal, 'Logs')}      ${stack.logDir}`,
  ...relays.map(
    ({ relay, generation }) =>
      `${bold(terminal, 'Relay')}     ${relay.name}: ${relay.sourceTopic} -> ${relay.outputTopics.join(', ')} (generation ${generation})`,
  ),
  'Ctrl-C stops everything; data stays (--fresh deletes it).',
]

const timeOfDay = (): string => new Date(systemClock.now()).toTimeString().slice(0, 8)

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
