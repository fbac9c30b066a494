import { realCluster } from './verify/real-cluster.ts'
import { verifyContract } from './verify.contract.ts'

verifyContract('Kafka 3.9', () => realCluster('3.9'))
