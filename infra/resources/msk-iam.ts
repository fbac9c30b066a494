import { type DeploymentPlan, type FunctionPlan, isMapped, type RelayPlan } from '../plan.ts'
import type { Statement } from './roles.ts'

/**
 * Permissions on an MSK cluster that authenticates by IAM. Names as in Kafka's ACLs: docs/operations/acls.md.
 * Source: Amazon MSK developer guide, "IAM access control", actions and resources.
 */
export function mskIamStatements(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): readonly Statement[] {
  const { msk, auth } = plan
  if (msk === undefined || auth === undefined || !('iam' in auth)) return []
  const at = (kind: string, name: string): string => `${msk.replace(':cluster/', `:${kind}/`)}/${name}`
  const allow = (Sid: string, actions: readonly string[], Resource: readonly string[]): Statement => ({
    Sid,
    Effect: 'Allow',
    Action: actions.map((action) => `kafka-cluster:${action}`),
    Resource,
  })
  const { facts, commitGroup, bellGroup } = relay
  const outputs = [...new Set(facts.outputTopics)].map((topic) => at('topic', topic))
  const writes = one.role !== 'status'
  const onTopics = (work: 'ReadData' | 'WriteData'): readonly string[] => [
    'DescribeTopic',
    ...(writes ? ['DescribeTopicDynamicConfiguration', work] : []),
  ]
  return [
    allow(
      'Cluster',
      [
        'Connect',
        'DescribeCluster',
        'DescribeClusterDynamicConfiguration',
        ...(writes ? ['WriteDataIdempotently'] : []),
      ],
      [msk],
    ),
    allow('Source', onTopics('ReadData'), [at('topic', facts.sourceTopic)]),
    ...(outputs.length > 0 ? [allow('Outputs', onTopics('WriteData'), outputs)] : []),
    allow('CommitGroup', ['DescribeGroup', ...(writes ? ['AlterGroup'] : [])], [at('group', commitGroup)]),
    allow(
      'TransactionalIds',
      ['DescribeTransactionalId', ...(writes ? ['AlterTransactionalId'] : [])],
      [at('transactional-id', `${commitGroup}.*`)],
    ),
    ...(one.role === 'bell' && isMapped(relay)
      ? [allow('BellGroup', ['DescribeGroup', 'AlterGroup'], [at('group', bellGroup)])]
      : []),
  ]
}
