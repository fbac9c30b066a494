import { type Admin, Kafka, logLevel, type Message, Partitioners, type Producer } from 'kafkajs'

const kafkaOf = (brokers: readonly string[]) =>
  new Kafka({ brokers: [...brokers], clientId: 'fencepost-test', logLevel: logLevel.NOTHING })

async function withProducer<T>(
  brokers: readonly string[],
  transactionalId: string | undefined,
  work: (producer: Producer) => Promise<T>,
): Promise<T> {
  const producer = kafkaOf(brokers).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    // Otherwise a retry for one partition appends to the others again.
    idempotent: true,
    maxInFlightRequests: 1,
    ...(transactionalId === undefined ? {} : { transactionalId }),
  })
  await producer.connect()
  try {
    return await work(producer)
  } finally {
    await producer.disconnect()
  }
}

/** Appends plain records, acknowledged by all replicas. */
export async function produce(brokers: readonly string[], topic: string, messages: readonly Message[]): Promise<void> {
  await withProducer(brokers, undefined, (producer) => producer.send({ topic, messages: [...messages] }))
}

/** Appends records in one transaction and ends it as said. */
export async function produceTransaction(
  brokers: readonly string[],
  topic: string,
  messages: readonly Message[],
  end: 'commit' | 'abort',
): Promise<void> {
  await withProducer(brokers, `test-${crypto.randomUUID()}`, async (producer) => {
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [...messages] })
    await transaction[end]()
  })
}

async function withAdmin<T>(brokers: readonly string[], work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaOf(brokers).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

/** Resolves when the topic has `count` partitions. */
export async function addPartitions(brokers: readonly string[], topic: string, count: number): Promise<void> {
  await withAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count }] }))
}

/** What a consumer group has committed, by partition; -1 where nothing. */
export async function committedOffsets(
  brokers: readonly string[],
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, number>> {
  return withAdmin(brokers, async (admin) => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
  })
}
