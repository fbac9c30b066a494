import type { Cluster } from '../../lib/kafka/cluster.ts'
import { kafkaErrorName } from '../../lib/kafka/errors.ts'
import type { AclOperation, AclResource } from '../../lib/kafka/missing-acl.ts'
import type { KafkaAcl } from '../../lib/preflight/acls.ts'
import { within } from '../helpers/kafka-client.ts'
import { relayUser } from './authorized-broker.ts'

export type Grant = Pick<KafkaAcl, 'operation' | 'resource' | 'name' | 'pattern'>

/** `org.apache.kafka.common.acl.AclOperation`, `ResourceType`, `PatternType`, `AclPermissionType`. */
const operations: Readonly<Record<AclOperation, number>> = {
  Read: 3,
  Write: 4,
  Describe: 8,
  DescribeConfigs: 10,
  IdempotentWrite: 12,
}
const resources: Readonly<Record<AclResource, number>> = { topic: 2, group: 3, cluster: 4, 'transactional id': 5 }
const patterns = { literal: 3, prefixed: 4 } as const
const allow = 3

const principal = `User:${relayUser.name}`

const coordinates = ({ operation, resource, name, pattern }: Grant) => ({
  type: resources[resource],
  name,
  pattern: patterns[pattern],
  operation: operations[operation],
})

/** Resolves when the broker goes by it. */
export async function grant(cluster: Cluster, acl: Grant): Promise<void> {
  const { type, name, pattern, operation } = coordinates(acl)
  const creation = {
    resourceType: type,
    resourceName: name,
    resourcePatternType: pattern,
    principal,
    host: '*',
    operation,
    permissionType: allow,
  }
  const { body } = await cluster.request({ to: 'any' }, 'CreateAcls', { creations: [creation] }, within(10_000))
  refuse('CreateAcls', body.results[0]?.errorCode)
  await untilGranted(cluster, acl, true)
}

/** Resolves when the broker goes by it. */
export async function revoke(cluster: Cluster, acl: Grant): Promise<void> {
  const { body } = await cluster.request({ to: 'any' }, 'DeleteAcls', { filters: [filterOf(acl)] }, within(10_000))
  refuse('DeleteAcls', body.filterResults[0]?.errorCode)
  if (body.filterResults[0]?.matchingAcls.length !== 1)
    throw new Error(`${acl.operation} on ${acl.name} was not granted`)
  await untilGranted(cluster, acl, false)
}

function filterOf(acl: Grant) {
  const { type, name, pattern, operation } = coordinates(acl)
  return {
    resourceTypeFilter: type,
    resourceNameFilter: name,
    patternTypeFilter: pattern,
    principalFilter: principal,
    hostFilter: '*',
    operation,
    permissionType: allow,
  }
}

/** The controller has written it before the broker's authorizer has heard of it. */
async function untilGranted(cluster: Cluster, acl: Grant, wanted: boolean): Promise<void> {
  for (const deadline = within(10_000); deadline.remainingMs() > 0; await cluster.clock.sleep(5)) {
    const { body } = await cluster.request({ to: 'any' }, 'DescribeAcls', filterOf(acl), deadline)
    refuse('DescribeAcls', body.errorCode)
    if (body.resources.length > 0 === wanted) return
  }
  throw new Error(`the broker does not go by ${acl.operation} on ${acl.name} after 10 s`)
}

function refuse(what: string, code: number | undefined): void {
  if (code !== 0) throw new Error(`${what} was answered ${kafkaErrorName(code ?? -1)}`)
}
