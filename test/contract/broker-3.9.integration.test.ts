import { realBroker } from './broker/real-broker.ts'
import { brokerContract } from './broker.contract.ts'

brokerContract('Kafka 3.9', 1, () => realBroker('3.9'))
