import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { Sabotage } from '../world.ts'
import { withoutStepNine } from './committed-memory.ts'
import { intercepted } from './intercept.ts'

/** Believes the first broker that says where the group stands, be it one that was replaced (P1). */
export const skipsStepNine = {
  cluster: (cluster: Cluster) => intercepted(cluster, withoutStepNine()),
} satisfies Sabotage
