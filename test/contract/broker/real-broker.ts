import { systemClock, systemRandom } from '../../../lib/clock.ts'
import { createKafkaTransport } from '../../../lib/kafka/kafkajs-transport.ts'
import type { KafkaVersion } from '../../../lib/local/kafka-jars.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { BrokerClient } from './client.ts'
import type { BrokerUnderTest } from './scene.ts'

export async function realBroker(version: KafkaVersion): Promise<BrokerUnderTest> {
  const transport = createKafkaTransport({ clientId: 'fencepost-contract', brokers: await kafkaBrokers(version) })
  return {
    client: new BrokerClient(transport, systemClock, systemRandom),
    coordinator: version === '3.9' ? 'classic' : 'new',
    freshName,
    run: (work) => work,
    close: () => transport.close(),
  }
}
