import { expect, test } from 'vitest'
import { type PollerOptions, pollerSettings } from '../../../../lib/local/esm-poller/poller-options.ts'
import { succeeded } from '../../../helpers/watched-function.ts'

const options: PollerOptions = { brokers: ['b:1'], topic: 't', group: 'g', function: async () => succeeded() }

test("defaults are Lambda's", () => {
  expect(pollerSettings(options)).toMatchObject({
    batchSize: 100,
    batchingWindowMs: 500,
    startingPosition: 'TRIM_HORIZON',
    reportBatchItemFailures: false,
    pollers: 1,
  })
})

test.each<[Partial<PollerOptions>, string]>([
  [{ batchSize: 10_001 }, 'batchSize of the event source mapping is 10001; wanted 1 to 10000'],
  [{ batchSize: 0 }, 'batchSize of the event source mapping is 0'],
  [{ batchingWindowMs: 300_001 }, 'batchingWindowMs of the event source mapping is 300001; wanted 0 to 300000'],
  [{ pollers: 0 }, 'pollers of the event source mapping is 0; wanted 1 to 2000'],
])('%j is refused', (changes, message) => {
  expect(() => pollerSettings({ ...options, ...changes })).toThrow(message)
})
