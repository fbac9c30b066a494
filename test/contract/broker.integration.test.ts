import { systemClock, systemRandom } from '../../lib/clock.ts'
import { createKafkaTransport } from '../../lib/kafka/kafkajs-transport.ts'
import type { KafkaVersion } from '../../lib/local/kafka-jars.ts'
import { freshName, kafkaBrokers } from '../helpers/stack.ts'
import { BrokerClient } from './broker/client.ts'
import type { BrokerUnderTest } from './broker/scene.ts'
import { brokerContract } from './broker.contract.ts'

brokerContract('Kafka 4.1', 2, () => realBroker('4.1'))
brokerContract('Kafka 4.1, asked by older requests', 1, () => realBroker('4.1'))
brokerContract('Kafka 3.9', 1, () => realBroker('3.9'))

async function realBroker(version: KafkaVersion): Promise<BrokerUnderTest> {
  const transport = createKafkaTransport({ clientId: 'fencepost-contract', brokers: await kafkaBrokers(version) })
  return {
    client: new BrokerClient(transport, systemClock, systemRandom),
    freshName,
    run: (work) => work,
    close: () => transport.close(),
  }
}
