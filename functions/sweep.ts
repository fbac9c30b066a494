import type { Context } from 'aws-lambda'
import { assertAllDone } from '../lib/lambda/answer.ts'
import { createContainer } from '../lib/lambda/container.ts'
import { lambdaHandler } from '../lib/lambda/handler.ts'
import type { CompiledRelay } from '../lib/relay/compiled-relay.ts'
import { sweepRelay } from '../lib/relay/sweep.ts'

/**
 * The function behind a slow schedule: reads what bells have missed, keeps the offsets and ids of idle lanes alive, ends
 * transactions that dead functions left open, and tells of lanes that stand still. No deployment does without it.
 */
export function sweepHandler(relay: CompiledRelay, container = createContainer(relay)) {
  return lambdaHandler(container, async (_event: unknown, context: Context) => {
    const { runtime, deadline, counts } = await container.ready(context)
    const report = await sweepRelay(runtime, context.awsRequestId, deadline)
    return { ...assertAllDone(report, counts.total), refreshed: Object.fromEntries(report.refreshed) }
  })
}
