import { systemRandom } from '../../lib/clock.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { ClusterModel } from '../../lib/testing/broker-model/cluster-model.ts'
import { ModelTransport } from '../../lib/testing/broker-model/model-transport.ts'
import { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import { verifyContract } from './verify.contract.ts'

verifyContract('the model of Kafka 4.1', () => modelOf(2))
verifyContract('the model of Kafka 3.9', () => modelOf(1))

async function modelOf(transactionVersion: 1 | 2) {
  const clock = new VirtualClock()
  const cluster = createCluster(
    new ModelTransport(new ClusterModel({ clock, transactionVersion })),
    clock,
    systemRandom,
  )
  let names = 0
  return {
    cluster,
    freshName: (prefix: string) => `${prefix}-${++names}`,
    run: <T>(work: Promise<T>) => clock.run(work),
    close: () => cluster.close(),
  }
}
