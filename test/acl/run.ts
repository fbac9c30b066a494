import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { createDynamoDbFenceStore } from '../../lib/fencing/dynamodb-fence-store.ts'
import { ensureFenceTable } from '../../lib/fencing/ensure-fence-store.ts'
import { startDynamoDb } from '../../lib/local/dynamodb.ts'
import type { KafkaVersion } from '../../lib/local/kafka-jars.ts'
import { clusterAt } from '../helpers/kafka-client.ts'
import { createTopicNamed } from '../helpers/topics.ts'
import { startAuthorizedBroker } from './authorized-broker.ts'
import { acls, atLeastOnce, type CaseResult, ways, withAll, without } from './cases.ts'
import { GuardedRelay, names, table } from './guarded-relay.ts'

/** All cases, one after the other, on a broker of their own. `tell` hears each result as it comes. */
export async function runAclCases(
  version: KafkaVersion,
  tell: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-acl-'))
  const undo: (() => unknown)[] = [() => rm(dir, { recursive: true, force: true })]
  try {
    const dynamoDb = await startDynamoDb()
    undo.push(dynamoDb.stop)
    await ensureFenceTable({ table, ...dynamoDb })
    const fences = createDynamoDbFenceStore({ table, ...dynamoDb }, systemClock)
    undo.push(() => fences.close())
    const broker = await startAuthorizedBroker(dir, version)
    undo.push(broker.stop)
    const admin = clusterAt([broker.admin])
    undo.push(() => admin.close())
    for (const topic of Object.values(names)) await createTopicNamed(admin, topic)
    const relay = new GuardedRelay(broker, fences, dynamoDb, admin)
    undo.push(() => relay.close())
    return await cases(relay, admin, tell)
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function cases(relay: GuardedRelay, admin: ReturnType<typeof clusterAt>, tell: (result: CaseResult) => void) {
  const results: CaseResult[] = []
  const note = (result: CaseResult) => {
    results.push(result)
    tell(result)
    return result.ok
  }
  if (!note(await withAll(relay, admin))) return results
  note(await atLeastOnce(relay))
  for (const acl of acls) {
    for (const way of acl.required ? ways : ways.slice(0, 1)) {
      note(await without(relay, admin, acl, way))
      await relay.close()
    }
  }
  return results
}
