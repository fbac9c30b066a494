import { RelayError } from '../errors.ts'
import { kafkaErrorName, type Operation } from './errors.ts'

export type AclOperation = 'Read' | 'Write' | 'Describe' | 'DescribeConfigs' | 'IdempotentWrite'
export type AclResource = 'topic' | 'group' | 'transactional id' | 'cluster'

/** Which of the things that a request named, a code is about; a cluster has one name for all. */
export interface AclNames {
  readonly topic?: string
  readonly group?: string
  readonly transactionalId?: string
}

/** The right that this user was refused. */
export interface MissingAcl {
  readonly operation: AclOperation
  readonly resource: AclResource
  /** null: the request does not tell which one. */
  readonly name: string | null
}

/** TOPIC, GROUP, CLUSTER and TRANSACTIONAL_ID_AUTHORIZATION_FAILED. */
const resourceOf: ReadonlyMap<number, AclResource> = new Map([
  [29, 'topic'],
  [30, 'group'],
  [31, 'cluster'],
  [53, 'transactional id'],
])

/** What each request is checked for (Apache Kafka, "Authorization and ACLs", operations and resources on protocols). */
const operationOf: Readonly<Record<Operation, Partial<Record<AclResource, AclOperation>>>> = {
  Metadata: { topic: 'Describe' },
  FindCoordinator: { group: 'Describe', 'transactional id': 'Describe' },
  ListOffsets: { topic: 'Describe' },
  OffsetFetch: { group: 'Describe', topic: 'Describe' },
  Fetch: { topic: 'Read' },
  InitProducerId: { 'transactional id': 'Write', cluster: 'IdempotentWrite' },
  AddPartitionsToTxn: { 'transactional id': 'Write', topic: 'Write' },
  AddOffsetsToTxn: { 'transactional id': 'Write', group: 'Read' },
  Produce: { 'transactional id': 'Write', topic: 'Write', cluster: 'IdempotentWrite' },
  TxnOffsetCommit: { 'transactional id': 'Write', group: 'Read', topic: 'Read' },
  EndTxn: { 'transactional id': 'Write' },
}

const clusterName = 'kafka-cluster'

/** The ACL behind a refusal; null when the code is not one of authorization, or the request is not checked for it. */
export function missingAcl(operation: Operation, code: number, names: AclNames): MissingAcl | null {
  const resource = resourceOf.get(code)
  const needed = resource && operationOf[operation][resource]
  if (resource === undefined || needed === undefined) return null
  const nameOf = { topic: names.topic, group: names.group, 'transactional id': names.transactionalId }
  return { operation: needed, resource, name: resource === 'cluster' ? clusterName : (nameOf[resource] ?? null) }
}

/** Describe is never granted alone: whoever may read or write may describe (AclEntry, AclAuthorizer). */
const including: Readonly<Record<AclResource, string>> = {
  topic: 'Read (of a source) or Write (of an output)',
  group: 'Read',
  'transactional id': 'Write',
  cluster: 'Alter',
}

/** `this user lacks the ACL Read on group 'shop.delays'`. */
export function missingAclText({ operation, resource, name }: MissingAcl): string {
  const on = name === null ? `a ${resource}` : `${resource} '${name}'`
  const more = operation === 'Describe' ? `, which ${including[resource]} on it includes` : ''
  return `this user lacks the ACL ${operation} on ${on}${more}`
}

/** What to say of a refusal, whatever it is about: the ACL where one is missing, else that credentials do not suffice. */
export function denialText(operation: Operation, code: number, names: AclNames): string {
  const missing = missingAcl(operation, code, names)
  return missing ? `${missingAclText(missing)}; allow it (docs/operations/acls.md)` : 'check what this user may do'
}

/** `asked` completes "… was answered". The context carries the ACL, for tools. */
export function denied(asked: string, operation: Operation, code: number, names: AclNames): RelayError {
  const message = `${asked} was answered ${kafkaErrorName(code)}: ${denialText(operation, code, names)}`
  return new RelayError('NOT_AUTHORIZED', message, {
    context: { operation, code, ...names, missingAcl: missingAcl(operation, code, names) },
  })
}
