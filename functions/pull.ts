import type { Context } from 'aws-lambda'
import { assertAllDone } from '../lib/lambda/answer.ts'
import { createContainer } from '../lib/lambda/container.ts'
import { lambdaHandler } from '../lib/lambda/handler.ts'
import type { CompiledRelay } from '../lib/relay/compiled-relay.ts'
import { runInvocation } from '../lib/relay/invocation.ts'

/**
 * The function behind a schedule: drains all lanes of the relay without any event source mapping, leaves lanes with a
 * live owner alone (R14), and with `linger` goes on tailing until its time is up (R13).
 */
export function pullHandler(relay: CompiledRelay, container = createContainer(relay)) {
  return lambdaHandler(container, async (_event: unknown, context: Context) => {
    const { runtime, deadline, settings, counts } = await container.ready(context)
    const lingerUntilMs = settings.linger ? deadline.atMs : null
    const report = await runInvocation(runtime, { kind: 'pull', lingerUntilMs }, context.awsRequestId, deadline)
    return assertAllDone(report, counts.total)
  })
}
