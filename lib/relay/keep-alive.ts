import type { Deadline } from '../clock.ts'
import { describeBrokerConfigs } from '../kafka/broker-configs.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { days, minutes } from '../units.ts'
import type { LaneTask } from './attend-lane.ts'
import { commitOffsetsOnly } from './commit-offsets.ts'
import { recover, renewSession } from './recover.ts'

/**
 * Commits the positions of a lane that has no records: Kafka forgets an offset that nobody has committed for
 * `offsets.retention.minutes`, partition by partition, even while the group is used (P11), and a transactional id after
 * `transactional.id.expiration.ms`. Opening the lane has ended whatever transaction a dead owner left.
 */
export const commitPositionsAgain: LaneTask = {
  isDone: () => false,
  async work(lane) {
    for (let committed = false; !committed; ) {
      if (!lane.session.reusable) await renewSession(lane)
      committed = await commitOffsetsOnly(lane, lane.positions, lane.deadline).then(
        () => true,
        async (error) => {
          await recover(lane, error)
          return false
        },
      )
    }
    lane.committedAtMs = lane.runtime.clock.now()
    lane.confirmed = true
  },
}

/** Kafka's default of both settings: assumed where the broker will not tell. */
const forgottenAfterMsDefault = days(7)
/** A sweep that fails is followed by another one, and that by a third, before anything is forgotten. */
const share = 3

/** After which an idle lane's positions are committed again: a third of what Kafka remembers. */
export async function keepAliveMs(cluster: Cluster, deadline: Deadline): Promise<number> {
  const [broker] = await cluster.brokers(deadline)
  if (!broker) return forgottenAfterMsDefault / share
  const names = ['offsets.retention.minutes', 'transactional.id.expiration.ms']
  const told = await describeBrokerConfigs(cluster, broker, names, deadline)
  const [offsetsMinutes = 0, idMs = 0] = names.map((name) => Number(told.get(name) ?? 0))
  const known = [minutes(offsetsMinutes), idMs].filter((ms) => ms > 0)
  return Math.min(forgottenAfterMsDefault, ...known) / share
}
