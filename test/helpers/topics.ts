import { Kafka, logLevel } from 'kafkajs'
import { freshName } from './stack.ts'

export interface TopicOptions {
  /** Default 1. */
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Topic configuration, for example `max.message.bytes`. */
  readonly config?: Readonly<Record<string, string>>
}

/** Makes a topic with a name of its own and waits for its leaders. Answers the name. */
export async function createTopic(
  brokers: readonly string[],
  prefix: string,
  options: TopicOptions = {},
): Promise<string> {
  const topic = freshName(prefix)
  const admin = new Kafka({ brokers: [...brokers], clientId: 'fencepost-test', logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic,
          numPartitions: options.partitions ?? 1,
          replicationFactor: options.replicationFactor ?? -1,
          configEntries: Object.entries(options.config ?? {}).map(([name, value]) => ({ name, value })),
        },
      ],
    })
  } finally {
    await admin.disconnect()
  }
  return topic
}
