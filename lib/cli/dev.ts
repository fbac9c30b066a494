import { Command } from 'commander'
import type { KafkaVersion } from '../local/kafka-jars.ts'
import { type Stack, startStack } from '../local/stack.ts'
import { brokersOption, dirOption, jsonOption, kafkaOption, portOption } from './options.ts'
import { bold, type Terminal } from './terminal.ts'

interface DevOptions {
  readonly kafka: KafkaVersion
  readonly brokers?: readonly string[]
  readonly dir: string
  readonly fresh?: boolean
  readonly json?: boolean
  readonly kafkaPort?: number
  readonly dynamodbPort?: number
  readonly s3Port?: number
}

const examples = `
Examples:
  $ fencepost dev                                the newest Kafka, free ports
  $ fencepost dev --kafka 3.9 --fresh            the older transaction protocol, without data of earlier runs
  $ fencepost dev --brokers localhost:9092       beside a cluster that runs already
  $ fencepost dev --kafka-port 9092              at a fixed port`

/** `fencepost dev`: the stack on this machine until Ctrl-C. */
export function devCommand(terminal: Terminal): Command {
  return new Command('dev')
    .addOption(kafkaOption())
    .addOption(brokersOption())
    .addOption(dirOption())
    .option('--fresh', 'delete the data and logs of earlier runs first')
    .addOption(portOption('kafka-port', 'the Kafka broker'))
    .addOption(portOption('dynamodb-port', 'DynamoDB'))
    .addOption(portOption('s3-port', 'S3'))
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: DevOptions) => dev(options, terminal))
}

async function dev(options: DevOptions, terminal: Terminal): Promise<void> {
  const stack = await startStack({
    dir: options.dir,
    kafka: options.kafka,
    ...(options.brokers ? { brokers: options.brokers } : {}),
    fresh: options.fresh ?? false,
    ports: portsOf(options),
    signal: terminal.interrupted,
    log: (line) => terminal.err(`fencepost: ${line}`),
  })
  try {
    for (const line of options.json ? [jsonLine(stack)] : lines(stack, terminal)) terminal.out(line)
    await untilAborted(terminal.interrupted)
    terminal.err('fencepost: stopping')
  } finally {
    await stack.stop()
  }
}

const portsOf = (options: DevOptions) => ({
  ...(options.kafkaPort === undefined ? {} : { kafka: options.kafkaPort }),
  ...(options.dynamodbPort === undefined ? {} : { dynamoDb: options.dynamodbPort }),
  ...(options.s3Port === undefined ? {} : { s3: options.s3Port }),
})

const jsonLine = ({ brokers, dynamoDb, s3, fenceTable, bucket, dataDir, logDir }: Stack): string =>
  JSON.stringify({
    ok: true,
    pid: process.pid,
    brokers,
    dynamoDb: dynamoDb.endpoint,
    fenceTable,
    s3: s3.endpoint,
    bucket,
    dataDir,
    logDir,
  })

const lines = (stack: Stack, terminal: Terminal): readonly string[] => [
  `${bold(terminal, 'Kafka')}     ${stack.brokers.join(',')}`,
  `${bold(terminal, 'DynamoDB')}  ${stack.dynamoDb.endpoint}  table ${stack.fenceTable}`,
  `${bold(terminal, 'S3')}        ${stack.s3.endpoint}  bucket ${stack.bucket}`,
  `${bold(terminal, 'Data')}      ${stack.dataDir}`,
  `${bold(terminal, 'Logs')}      ${stack.logDir}`,
  'Ctrl-C stops everything; data stays (--fresh deletes it).',
]

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
