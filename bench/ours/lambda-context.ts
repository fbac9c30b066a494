import { randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'

/** As Lambda gives it for one more invocation. */
export function lambdaContext(functionTimeoutMs = 600_000, logStreamName = `bench/${process.pid}`): Context {
  const endsAtMs = Date.now() + functionTimeoutMs
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'copy',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:copy',
    memoryLimitInMB: '512',
    logGroupName: '/aws/lambda/copy',
    logStreamName,
    getRemainingTimeInMillis: () => endsAtMs - Date.now(),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}
