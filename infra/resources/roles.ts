import { attribute, idPart, type Resources, sub, type Value } from '../cloudformation.ts'
import { type DeploymentPlan, type FunctionPlan, isMapped, type RelayPlan } from '../plan.ts'
import { functionEnvironment } from './environment.ts'
import { accessConfigurations } from './event-source-mapping.ts'
import { fenceTableId } from './fence-table.ts'
import { mskIamStatements } from './msk-iam.ts'
import { secretArns } from './secret-arns.ts'
import { snapshotBucketId } from './snapshot-bucket.ts'

export interface Statement {
  readonly Sid: string
  readonly Effect: 'Allow'
  readonly Action: readonly string[]
  readonly Resource: readonly Value[]
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, Value>>>>
}

export const roleId = (functionKey: string): string => `${idPart(functionKey)}Role`

/** A role for each function with what it does, and nothing else: its own lanes, its own log, its own secrets. */
export function functionRole(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): Resources {
  const statements = statementsOf(plan, relay, one)
  return {
    [roleId(one.key)]: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
        },
        Policies: [
          {
            PolicyName: 'fencepost',
            // An interface has no index signature; each field of a statement is a Value.
            PolicyDocument: { Version: '2012-10-17', Statement: statements.map((statement) => ({ ...statement })) },
          },
        ],
      },
    },
  }
}

/** What the role of a function allows. */
export function statementsOf(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): readonly Statement[] {
  const isBell = one.role === 'bell' && isMapped(relay)
  return [
    logs(one),
    ...fences(relay, one),
    ...(plan.snapshots && one.role !== 'status' ? [snapshots(plan, relay)] : []),
    ...secrets(plan, [
      ...Object.values(functionEnvironment(plan, relay, one)),
      ...(isBell ? accessConfigurations(plan).map(({ URI }) => URI) : []), // a mapping logs in with the role of its function
    ]),
    ...(plan.vpc === undefined ? [] : [network(isBell)]),
    ...(isBell && plan.msk !== undefined ? [mappingToMsk(plan.msk)] : []),
    ...mskIamStatements(plan, relay, one),
  ]
}

const allow = (Sid: string, Action: readonly string[], Resource: readonly Value[]): Statement => ({
  Sid,
  Effect: 'Allow',
  Action,
  Resource,
})

const logs = ({ name }: FunctionPlan): Statement =>
  allow(
    'Log',
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    [sub(`arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/${name}:*`)],
  )

/** Records of this relay only, though others share the table. A scan has no keys to be told apart by; it only reads. */
function fences({ commitGroup }: RelayPlan, { role }: FunctionPlan): Statement[] {
  const table = [attribute(fenceTableId, 'Arn')]
  const own = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${commitGroup}.*`, `first-start/${commitGroup}.*`] },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  }
  const actions = ['dynamodb:GetItem', ...(role === 'status' ? [] : ['dynamodb:UpdateItem'])]
  const work = { ...allow('OwnFences', actions, table), Condition: own }
  return role === 'bell' ? [work] : [work, allow('ListFences', ['dynamodb:Scan'], table)]
}

const snapshots = ({ prefix }: DeploymentPlan, { facts }: RelayPlan): Statement =>
  allow(
    'OwnSnapshots',
    ['s3:GetObject', 's3:PutObject'],
    [sub(`\${${snapshotBucketId}.Arn}/${prefix}/${facts.name}/*`)],
  )

function secrets({ kmsKey }: DeploymentPlan, references: readonly Value[]): Statement[] {
  const { secretsmanager, ssm } = secretArns(references)
  return [
    ...(secretsmanager.length > 0 ? [allow('Secrets', ['secretsmanager:GetSecretValue'], secretsmanager)] : []),
    ...(ssm.length > 0 ? [allow('Parameters', ['ssm:GetParameter'], ssm)] : []),
    ...(kmsKey === undefined ? [] : [allow('SecretKey', ['kms:Decrypt'], [kmsKey])]),
  ]
}

/**
 * Lambda makes network interfaces with the role of the function; IAM can bind none of these actions to a function. The
 * pollers of a mapping ask for more, with the same role.
 */
const network = (isBell: boolean): Statement =>
  allow(
    'Network',
    [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
      ...(isBell ? ['ec2:DescribeVpcs', 'ec2:DescribeSecurityGroups'] : []),
    ],
    ['*'],
  )

const mappingToMsk = (cluster: string): Statement =>
  allow('MappingToMsk', ['kafka:DescribeCluster', 'kafka:DescribeClusterV2', 'kafka:GetBootstrapBrokers'], [cluster])
