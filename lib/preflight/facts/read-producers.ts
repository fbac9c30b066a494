import type { Deadline } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { kafkaErrorName } from '../../kafka/errors.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import { told, untold } from '../finding.ts'
import type { SourceProducers, TopicFacts } from './facts.ts'

/**
 * Transactional producers of the sources that are read from events, as the leaders remember them (`producer.id.expiration.ms`,
 * a day by default). A producer whose transaction a coordinator has ended carries the coordinator's epoch (KIP-664).
 */
export async function readProducers(
  cluster: Cluster,
  relays: readonly CompiledRelay[],
  topics: readonly TopicFacts[],
  deadline: Deadline,
): Promise<readonly SourceProducers[]> {
  const fromEvents = relays.filter(({ read }) => read === 'event')
  return Promise.all(
    fromEvents.map(async ({ name: relay, sourceTopic: topic }) => {
      const state = topics.find(({ name }) => name === topic)?.state
      const partitions = state?.told ? (state.value?.partitions ?? 0) : 0
      const transactional = await count(cluster, topic, partitions, deadline).then(told, (error) =>
        untold(messageOf(error)),
      )
      return { relay, topic, transactional }
    }),
  )
}

async function count(cluster: Cluster, topic: string, partitions: number, deadline: Deadline): Promise<number> {
  const ids = await Promise.all(
    Array.from({ length: partitions }, (_, partition) => transactionalIn(cluster, topic, partition, deadline)),
  )
  return new Set(ids.flat()).size
}

async function transactionalIn(
  cluster: Cluster,
  topic: string,
  partition: number,
  deadline: Deadline,
): Promise<readonly bigint[]> {
  const request = { topics: [{ name: topic, partitionIndexes: [partition] }] }
  const { body } = await cluster.request({ to: 'leader', topic, partition }, 'DescribeProducers', request, deadline)
  const answer = body.topics[0]?.partitions[0]
  if (answer?.errorCode !== 0)
    throw new Error(`DescribeProducers was answered ${kafkaErrorName(answer?.errorCode ?? -1)}`)
  return answer.activeProducers
    .filter(({ coordinatorEpoch, currentTxnStartOffset }) => coordinatorEpoch >= 0 || currentTxnStartOffset >= 0n)
    .map(({ producerId }) => producerId)
}
