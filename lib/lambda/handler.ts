import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import type { Container } from './container.ts'
import { stackOf } from './stack-of.ts'

/**
 * A handler as Lambda calls it: logs carry the request, metrics are flushed even when the invocation fails. What it fails
 * with is logged with its causes, which Lambda leaves out.
 */
export function lambdaHandler<Answer>(
  { logger, metrics }: Container,
  handle: (event: unknown, context: Context) => Promise<Answer>,
) {
  const flush = (): void => {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics() // a warning, where there are none
  }
  return middy<unknown, Answer>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use({
      after: flush,
      onError({ error }) {
        logger.error('invocation failed', { stack: stackOf(error) })
        flush()
      },
    })
    .handler(handle)
}
