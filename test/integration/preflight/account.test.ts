import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { close, listen } from '../../../lib/local/http-server.ts'
import { mappingsOfAccount } from '../../../lib/preflight/facts/mapping-store.ts'
import { told } from '../../../lib/preflight/finding.ts'

/** Lambda's own answers to the two questions (REST-JSON, API version 2015-03-31), which no emulator here gives for Kafka. */
async function lambda(answers: Readonly<Record<string, object>>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '')
    asked.push(`${request.method} ${url}`)
    const answer = answers[url]
    response.setHeader('content-type', 'application/json')
    if (answer === undefined) {
      response.writeHead(404, { 'x-amzn-errortype': 'ResourceNotFoundException' })
      return response.end(JSON.stringify({ Type: 'User', Message: 'Function not found' }))
    }
    return response.end(JSON.stringify(answer))
  })
  const port = await listen(server, 'Lambda')
  onTestFinished(() => close(server))
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  return { asked, place: { endpoint: `http://127.0.0.1:${port}`, region: 'eu-central-1', credentials } }
}

test('the Kafka mappings of a function are read from the account by two questions that change nothing', async () => {
  const { asked, place } = await lambda({
    '/2015-03-31/functions/shop-orders/configuration': {
      FunctionName: 'shop-orders',
      Timeout: 60,
      Environment: { Variables: { FENCEPOST_PARTIAL_FAILURES: 'true', FENCEPOST_TRANSACTION_TIMEOUT_MS: '360000' } },
    },
    '/2015-03-31/event-source-mappings?FunctionName=shop-orders': {
      EventSourceMappings: [
        { UUID: 'queue', EventSourceArn: 'arn:aws:sqs:eu-central-1:1:q', State: 'Enabled' },
        {
          UUID: 'orders',
          Topics: ['orders'],
          State: 'Enabled',
          StartingPosition: 'TRIM_HORIZON',
          MaximumRetryAttempts: 3,
          DestinationConfig: { OnFailure: { Destination: 'arn:aws:sqs:eu-central-1:1:dead' } },
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          SelfManagedEventSource: { Endpoints: { KAFKA_BOOTSTRAP_SERVERS: ['b-1:9092'] } },
          SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: 'shop.orders.bell', ConsumptionMode: 'Queue' },
        },
      ],
    },
  })
  expect(await mappingsOfAccount(['shop-orders'], place)).toMatchObject([
    {
      name: 'orders',
      topics: ['orders'],
      consumerGroup: told('shop.orders.bell'),
      retriesMax: told(3),
      onFailure: told('arn:aws:sqs:eu-central-1:1:dead'),
      partialFailures: told(true),
      consumptionMode: told('Queue'),
      functionTimeoutMs: told(60_000),
      functionPartialFailures: told(true),
      functionTransactionTimeoutMs: told(360_000),
    },
  ])
  expect(asked.every((each) => each.startsWith('GET '))).toBe(true)
})

test('a function that is not there is named, with what to do', async () => {
  const { place } = await lambda({})
  await expect(mappingsOfAccount(['nope'], place)).rejects.toThrow(
    'CONFIG_INVALID: function nope cannot be looked up (ResourceNotFoundException: Function not found): correct its name, or allow lambda:GetFunctionConfiguration',
  )
})
