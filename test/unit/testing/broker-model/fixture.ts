import { systemRandom } from '../../../../lib/clock.ts'
import { ClusterModel, type ClusterModelOptions } from '../../../../lib/testing/broker-model/cluster-model.ts'
import { type Faults, ModelTransport } from '../../../../lib/testing/broker-model/model-transport.ts'
import { seededRandom } from '../../../../lib/testing/seeded-random.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { BrokerClient } from '../../../contract/broker/client.ts'
import { type Scene, sceneOf } from '../../../contract/broker/scene.ts'

export interface Bench extends Scene {
  readonly clock: VirtualClock
  readonly model: ClusterModel
  /** Another process, with connections of its own. */
  another(faults?: Faults): BrokerClient
  run<T>(work: Promise<T>): Promise<T>
}

/** A modelled cluster with a topic, and a client of it. */
export async function bench(options: Partial<ClusterModelOptions> = {}, faults?: Faults): Promise<Bench> {
  const clock = new VirtualClock()
  const model = new ClusterModel({ clock, random: seededRandom(7), ...options })
  const another = (faultsOfIt?: Faults) => new BrokerClient(new ModelTransport(model, faultsOfIt), clock, systemRandom)
  let names = 0
  const freshName = (prefix: string) => `${prefix}-${++names}`
  const run = <T>(work: Promise<T>) => clock.run(work)
  const generation = options.transactionVersion ?? 2
  const client = another(faults)
  const coordinator = generation === 1 ? 'classic' : 'new'
  const scene = await run(sceneOf({ client, coordinator, freshName, run, close: async () => {} }, generation))
  return { ...scene, clock, model, another, run }
}
