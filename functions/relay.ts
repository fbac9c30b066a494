import type { Context } from 'aws-lambda'
import { answerOf } from '../lib/lambda/answer.ts'
import { createContainer } from '../lib/lambda/container.ts'
import { parseKafkaEvent } from '../lib/lambda/event.ts'
import { lambdaHandler } from '../lib/lambda/handler.ts'
import type { CompiledRelay } from '../lib/relay/compiled-relay.ts'
import { runInvocation } from '../lib/relay/invocation.ts'

/**
 * The function behind an event source mapping: each event is a bell; the log says what there is to relay. Answers
 * success only for lanes that are past the bell or durably stopped (R12); with `ReportBatchItemFailures` lane by lane.
 */
export function relayHandler(relay: CompiledRelay, container = createContainer(relay)) {
  return lambdaHandler(container, async (event: unknown, context: Context) => {
    const bells = parseKafkaEvent(event)
    const { runtime, deadline, settings, counts } = await container.ready(context)
    const reports = await Promise.all(bells.map((bell) => runInvocation(runtime, bell, context.awsRequestId, deadline)))
    return answerOf(bells, reports, counts.total, settings.partialFailures)
  })
}
