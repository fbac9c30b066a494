import type { Sabotage } from '../world.ts'
import { withoutStepNine } from './committed-memory.ts'
import { intercepted } from './intercept.ts'

/** Believes the first broker that says where the group stands, be it one that was replaced (P1). */
export const skipsStepNine: Sabotage = {
  cluster: (cluster) => intercepted(cluster, withoutStepNine()),
}
