import { type Deadline, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { kafkaErrorName } from '../kafka/errors.ts'

const makingMs = 20_000
const lookAgainMs = 20

/** Creates topics and resolves when every partition has a leader. @throws RelayError LOCAL_STACK, BROKER_UNAVAILABLE */
export async function createTopics(cluster: Cluster, wanted: ReadonlyMap<string, number>): Promise<void> {
  const deadline = deadlineIn(cluster.clock, makingMs)
  const topics = [...wanted].map(([name, numPartitions]) => {
    return { name, numPartitions, replicationFactor: -1, assignments: [], configs: [] }
  })
  const { body } = await cluster.request({ to: 'any' }, 'CreateTopics', { topics, timeoutMs: makingMs }, deadline)
  const refused = body.topics.filter(({ errorCode }) => errorCode !== 0)
  if (refused.length > 0) {
    const reasons = refused.map(
      ({ name, errorCode, errorMessage }) => `${name} (${errorMessage ?? kafkaErrorName(errorCode)})`,
    )
    throw new RelayError('LOCAL_STACK', `The broker did not create ${reasons.join(', ')}.`)
  }
  await untilLed(cluster, wanted, deadline)
}

/** The controller answers before the broker itself has heard of a topic. */
async function untilLed(cluster: Cluster, wanted: ReadonlyMap<string, number>, deadline: Deadline): Promise<void> {
  while (deadline.remainingMs() > 0) {
    const known = await cluster.topics([...wanted.keys()], deadline, 'fresh')
    const isLed = ([name, count]: readonly [string, number]) =>
      known.get(name)?.partitions.filter(({ leader }) => leader !== null).length === count
    if ([...wanted].every(isLed)) return
    await cluster.clock.sleep(lookAgainMs)
  }
  throw new RelayError('LOCAL_STACK', `Topics have no leaders after ${makingMs / 1_000} s; see the broker's log.`)
}
