import type { Output, Parameter, Resources } from '../cloudformation.ts'
import { ref } from '../cloudformation.ts'
import type { DeploymentPlan } from '../plan.ts'
import { alarms } from './alarms.ts'
import { brokerParameters } from './brokers.ts'
import { dashboard } from './dashboard.ts'
import { eventSourceMapping } from './event-source-mapping.ts'
import { fenceTable, fenceTableId } from './fence-table.ts'
import { functionRole } from './roles.ts'
import { snapshotBucket, snapshotBucketId } from './snapshot-bucket.ts'

/** What is added to the template beside the functions, as `resources:` of a serverless.yml has it. */
export interface Template {
  readonly Parameters: Readonly<Record<string, Parameter>>
  readonly Resources: Resources
  readonly Outputs: Readonly<Record<string, Output>>
}

/** Everything of a deployment except its functions, their schedules and their logs, which the Serverless CLI makes. */
export function template(plan: DeploymentPlan): Template {
  const parts = [
    fenceTable(plan),
    snapshotBucket(plan),
    ...plan.relays.flatMap((relay) => [
      ...relay.functions.map((one) => functionRole(plan, relay, one)),
      eventSourceMapping(plan, relay),
      alarms(plan, relay),
    ]),
    dashboard(plan),
  ]
  return {
    Parameters: brokerParameters(plan),
    Resources: Object.assign({}, ...parts),
    Outputs: {
      FenceTableName: { Description: 'Fence records: --table of the commands for operators', Value: ref(fenceTableId) },
      ...(plan.snapshots && {
        SnapshotBucketName: { Description: 'Snapshots of keyed state', Value: ref(snapshotBucketId) },
      }),
    },
  }
}
