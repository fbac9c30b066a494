import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import type { Container } from './container.ts'

/** A handler as Lambda calls it: logs carry the request, metrics are flushed even when the invocation fails. */
export function lambdaHandler<Answer>(
  { logger, metrics }: Container,
  handle: (event: unknown, context: Context) => Promise<Answer>,
) {
  return middy<unknown, Answer>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics))
    .handler(handle)
}
