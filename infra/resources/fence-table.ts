import type { Resources } from '../cloudformation.ts'
import type { DeploymentPlan } from '../plan.ts'

export const fenceTableId = 'FenceTable'

/**
 * The fence records, one item a lane; no item expires. With `protect` neither a removed stack nor a slip of the hand can
 * delete it: lanes would have to trust Kafka alone for where they are.
 */
export function fenceTable({ tableName, protect }: Pick<DeploymentPlan, 'tableName' | 'protect'>): Resources {
  const policy = protect ? 'Retain' : 'Delete'
  return {
    [fenceTableId]: {
      Type: 'AWS::DynamoDB::Table',
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: {
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: protect,
      },
    },
  }
}
