import type { Deadline } from '../../clock.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import type { Cluster, Target } from '../../kafka/cluster.ts'
import { classify, kafkaErrorName } from '../../kafka/errors.ts'
import type { AclOperation } from '../../kafka/missing-acl.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import { type KafkaAcl, kafkaAcls } from '../acls.ts'
import { type Told, told, untold } from '../finding.ts'
import type { RightFacts } from './facts.ts'

/** `org.apache.kafka.common.acl.AclOperation`: the bit in the fields of authorized operations. */
const bitOf: Readonly<Record<AclOperation, number>> = {
  Read: 3,
  Write: 4,
  Describe: 8,
  DescribeConfigs: 10,
  IdempotentWrite: 12,
}
/** What brokers answer that do not tell. */
const notTold = -2_147_483_648
/** Nobody's: the coordinator checks the right first, then refuses a producer that it does not know (49). Nothing changes. */
const nobody = { producerId: 2n ** 62n, producerEpoch: 0 }

/**
 * Whether this user has each ACL that these relays need. Found out by questions that change nothing and need no right of
 * their own: brokers tell which operations they would allow (KIP-430), and of a transactional id what they refuse.
 */
export async function readRights(
  cluster: Cluster,
  prefix: string,
  relays: readonly CompiledRelay[],
  deadline: Deadline,
): Promise<readonly RightFacts[]> {
  const rights = relays.flatMap((relay) =>
    kafkaAcls(relay, prefix).map(async (acl): Promise<RightFacts> => {
      const granted = await onceReady(cluster, () => ask(cluster, acl, deadline)).catch(refusal)
      return { relay: relay.name, acl, granted }
    }),
  )
  return Promise.all(rights)
}

const triesMax = 30
const pauseMs = 100

/** A coordinator that is still loading, or whose topic is just being made, is asked again for some seconds. */
async function onceReady<T>(cluster: Cluster, question: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await question()
    } catch (error) {
      const isNotReady = isRelayError(error) && error.code === 'BROKER_UNAVAILABLE'
      if (!isNotReady || tries === triesMax) throw error
      await cluster.clock.sleep(pauseMs)
    }
  }
}

const refusal = (error: unknown): Told<boolean> =>
  isRelayError(error) && error.code === 'NOT_AUTHORIZED' ? told(false) : untold(messageOf(error))

async function ask(cluster: Cluster, acl: KafkaAcl, deadline: Deadline): Promise<Told<boolean>> {
  switch (acl.resource) {
    case 'topic':
      return askTopic(cluster, acl, deadline)
    case 'group':
      return askGroup(cluster, acl, deadline)
    case 'transactional id':
      return askTransactionalId(cluster, acl, deadline)
    case 'cluster':
      return askCluster(cluster, deadline)
  }
}

function allowed(operations: number, operation: AclOperation): Told<boolean> {
  if (operations === notTold) return untold('the broker does not tell what it allows')
  return told((operations & (1 << bitOf[operation])) !== 0)
}

/** An answer with a code: refused, or not known. @throws RelayError BROKER_UNAVAILABLE when it may be asked again */
function judged(cluster: Cluster, target: Target, api: string, code: number): Told<boolean> {
  const { verdict, relocate } = classify('FindCoordinator', code)
  const found = `${api} was answered ${kafkaErrorName(code)}`
  if (relocate) cluster.forget(target)
  if (verdict === 'wait' || verdict === 'resend') throw new RelayError('BROKER_UNAVAILABLE', found)
  return verdict === 'denied' ? told(false) : untold(found)
}

const any = { to: 'any' } as const

async function askTopic(cluster: Cluster, { name, operation }: KafkaAcl, deadline: Deadline): Promise<Told<boolean>> {
  const body = { topics: [{ name }], allowAutoTopicCreation: false, includeTopicAuthorizedOperations: true }
  const answer = await cluster.request(any, 'Metadata', body, deadline)
  const [topic] = answer.body.topics
  if (topic?.errorCode !== 0) return judged(cluster, any, 'Metadata', topic?.errorCode ?? -1)
  return allowed(topic.topicAuthorizedOperations, operation)
}

async function askGroup(cluster: Cluster, { name, operation }: KafkaAcl, deadline: Deadline): Promise<Told<boolean>> {
  const body = { groups: [name], includeAuthorizedOperations: true }
  const target = { to: 'group-coordinator', key: name } as const
  const answer = await cluster.request(target, 'DescribeGroups', body, deadline)
  const [group] = answer.body.groups
  if (group?.errorCode !== 0) return judged(cluster, target, 'DescribeGroups', group?.errorCode ?? -1)
  return allowed(group.authorizedOperations, operation)
}

async function askTransactionalId(cluster: Cluster, { name }: KafkaAcl, deadline: Deadline): Promise<Told<boolean>> {
  const transactionalId = `${name}0`
  const body = { transactionalId, ...nobody, groupId: 'fencepost-preflight' }
  const target = { to: 'transaction-coordinator', key: transactionalId } as const
  const answer = await cluster.request(target, 'AddOffsetsToTxn', body, deadline)
  const { errorCode } = answer.body
  if (errorCode === refusedAfterwards.group || errorCode === refusedAfterwards.producer) return told(true)
  return judged(cluster, target, 'AddOffsetsToTxn', errorCode)
}

/** Asked only of whom the right on the transactional id was found. */
const refusedAfterwards = { group: 30, producer: 49 } as const

const brokerResource = 4

/** Tried, because brokers tell what they allow on the cluster only to those who may describe it. */
async function askCluster(cluster: Cluster, deadline: Deadline): Promise<Told<boolean>> {
  const [node] = await cluster.brokers(deadline)
  if (node === undefined) return untold('no broker is known')
  const resource = { resourceType: brokerResource, resourceName: String(node.nodeId), configurationKeys: [] }
  const answer = await cluster.request({ to: 'node', node }, 'DescribeConfigs', { resources: [resource] }, deadline)
  const code = answer.body.results[0]?.errorCode ?? -1
  return code === 0 ? told(true) : judged(cluster, any, 'DescribeConfigs', code)
}
