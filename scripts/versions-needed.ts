import { type KafkaVersion, kafkaVersions } from '../lib/local/kafka-jars.ts'

const staticStages = ['lint', 'types', 'imports', 'unit']
const tasksWithoutKafka = ['sim', 'crash-matrix']
const commandsWithKafka = ['demo', 'dev', 'chaos']

/** Which brokers a task is going to start. An unknown version is left to the program, which names it. */
export function versionsNeeded(task: string, args: readonly string[]): readonly KafkaVersion[] {
  if (args.includes('--help') || args.includes('-h')) return []
  if (tasksWithoutKafka.includes(task)) return []
  if (task === 'test') return args[0] !== undefined && staticStages.includes(args[0]) ? [] : kafkaVersions
  if (task === 'cli' && !commandsWithKafka.includes(args[0] ?? '')) return []
  if (args.some((arg) => arg === '--brokers' || arg.startsWith('--brokers='))) return []
  return kafkaVersions.filter((version) => version === chosenVersion(args))
}

function chosenVersion(args: readonly string[]): string {
  const at = args.indexOf('--kafka')
  if (at >= 0) return args[at + 1] ?? ''
  return args.find((arg) => arg.startsWith('--kafka='))?.slice('--kafka='.length) ?? kafkaVersions[0]
}
