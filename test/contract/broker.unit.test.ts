import { systemRandom } from '../../lib/clock.ts'
import { ClusterModel } from '../../lib/testing/broker-model/cluster-model.ts'
import { ModelTransport } from '../../lib/testing/broker-model/model-transport.ts'
import { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import { BrokerClient } from './broker/client.ts'
import type { BrokerUnderTest } from './broker/scene.ts'
import { brokerContract } from './broker.contract.ts'

brokerContract('the broker model as Kafka 4.1', 2, () => modelOf(2))
brokerContract('the broker model as Kafka 4.1, asked by older requests', 1, () => modelOf(2))
brokerContract('the broker model as Kafka 3.9', 1, () => modelOf(1))

async function modelOf(transactionVersion: 1 | 2): Promise<BrokerUnderTest> {
  const clock = new VirtualClock()
  const transport = new ModelTransport(new ClusterModel({ clock, transactionVersion }))
  let names = 0
  return {
    client: new BrokerClient(transport, clock, systemRandom),
    coordinator: transactionVersion === 1 ? 'classic' : 'new',
    freshName: (prefix) => `${prefix}-${++names}`,
    run: (work) => clock.run(work),
    close: () => transport.close(),
  }
}
