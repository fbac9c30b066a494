import { realBroker } from './broker/real-broker.ts'
import { brokerContract } from './broker.contract.ts'

brokerContract('Kafka 4.1, asked by older requests', 1, () => realBroker('4.1'))
