import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand, ListDashboardsCommand } from '@aws-sdk/client-cloudwatch'
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, ListRulesCommand } from '@aws-sdk/client-eventbridge'
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam'
import {
  type EventSourceMappingConfiguration,
  type FunctionConfiguration,
  LambdaClient,
  ListEventSourceMappingsCommand,
  ListFunctionsCommand,
} from '@aws-sdk/client-lambda'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'

/** What an account holds, read back through the APIs of its services. */
export interface Holdings {
  readonly functions: readonly FunctionConfiguration[]
  readonly mappings: readonly EventSourceMappingConfiguration[]
  /** Everything by type; names. */
  readonly names: Readonly<Record<string, readonly string[]>>
}

const texts = (list: readonly (string | undefined)[] | undefined): readonly string[] =>
  (list ?? []).flatMap((one) => (one === undefined ? [] : [one]))

/** The accounts of tests are small: first pages hold everything. */
export async function holdings(at: AwsEndpoint): Promise<Holdings> {
  const lambda = new LambdaClient(at)
  const cloudWatch = new CloudWatchClient(at)
  const { Functions: functions = [] } = await lambda.send(new ListFunctionsCommand({}))
  const { EventSourceMappings: mappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}))
  const { Stacks } = await new CloudFormationClient(at).send(new DescribeStacksCommand({}))
  const { TableNames } = await new DynamoDBClient(at).send(new ListTablesCommand({}))
  const { Buckets } = await new S3Client({ ...at, forcePathStyle: true }).send(new ListBucketsCommand({}))
  const { Roles } = await new IAMClient(at).send(new ListRolesCommand({ MaxItems: 1_000 }))
  const { Rules } = await new EventBridgeClient(at).send(new ListRulesCommand({}))
  const { MetricAlarms } = await cloudWatch.send(new DescribeAlarmsCommand({ MaxRecords: 100 }))
  const { DashboardEntries } = await cloudWatch.send(new ListDashboardsCommand({}))
  const { logGroups } = await new CloudWatchLogsClient(at).send(new DescribeLogGroupsCommand({}))
  return {
    functions,
    mappings,
    names: {
      'AWS::CloudFormation::Stack': texts(Stacks?.map(({ StackName }) => StackName)),
      'AWS::Lambda::Function': texts(functions.map(({ FunctionName }) => FunctionName)),
      'AWS::Lambda::EventSourceMapping': texts(mappings.map(({ UUID }) => UUID)),
      'AWS::DynamoDB::Table': texts(TableNames),
      'AWS::S3::Bucket': texts(Buckets?.map(({ Name }) => Name)),
      'AWS::IAM::Role': texts(Roles?.map(({ RoleName }) => RoleName)),
      'AWS::Events::Rule': texts(Rules?.map(({ Name }) => Name)),
      'AWS::CloudWatch::Alarm': texts(MetricAlarms?.map(({ AlarmName }) => AlarmName)),
      'AWS::CloudWatch::Dashboard': texts(DashboardEntries?.map(({ DashboardName }) => DashboardName)),
      'AWS::Logs::LogGroup': texts(logGroups?.map(({ logGroupName }) => logGroupName)),
    },
  }
}

export const countOf = ({ names }: Holdings): number => Object.values(names).reduce((sum, list) => sum + list.length, 0)
