import { realCluster } from './verify/real-cluster.ts'
import { verifyContract } from './verify.contract.ts'

verifyContract('Kafka 4.1', () => realCluster('4.1'))
