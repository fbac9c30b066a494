import type { Context } from 'aws-lambda'
import { createContainer } from '../lib/lambda/container.ts'
import { lambdaHandler } from '../lib/lambda/handler.ts'
import type { CompiledRelay } from '../lib/relay/compiled-relay.ts'
import { relayStatus } from '../lib/relay/operator/status.ts'

/** What `fencepost status --json` prints, for operators who reach the function but not the brokers. Reads only. */
export function statusHandler(relay: CompiledRelay, container = createContainer(relay)) {
  return lambdaHandler(container, async (_event: unknown, context: Context) => {
    const { runtime, deadline } = await container.ready(context)
    return relayStatus(runtime, deadline)
  })
}
