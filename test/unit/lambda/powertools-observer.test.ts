import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'
import { expect, onTestFinished, test, vi } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import { metricCatalogue } from '../../../lib/lambda/metric-catalogue.ts'
import { powertoolsObserver } from '../../../lib/lambda/powertools-observer.ts'

const lane = 'shop.delays.flights.0'
const error = new RelayError('OFFSETS_LOST', 'gone')

function observed() {
  const metrics = new Metrics({ namespace: 'Fencepost', serviceName: 'delays' })
  const logger = new Logger({ serviceName: 'delays', logLevel: 'SILENT' })
  const observer = powertoolsObserver(logger, metrics)
  return { observer, units: () => metrics.serializeMetrics()._aws.CloudWatchMetrics[0]?.Metrics ?? [] }
}

test('every metric of the catalogue is emitted, with its unit, and no other', () => {
  const { observer, units } = observed()
  observer.noopBell?.({ lane })
  const counts = { records: 3, outputs: 2, deadLetters: 1, skipped: 1 }
  const timings = { readMs: 1, transformMs: 2, commitMs: 3 }
  observer.windowCommitted?.({ lane, counts, until: { 0: '3' }, bytes: 10, timings })
  observer.sessionReopened?.({ lane, error })
  observer.stoodDown?.({ lane, reason: 'newer owner' })
  observer.laneStopped?.({ lane, error })
  observer.laneFailed?.({ lane, error })
  observer.laneSwept?.({ lane, lagOffsets: 7, committedAgeMs: 8 })
  observer.alarm?.({ lane, code: 'ROLLED_BACK', message: 'told' })
  const wanted = Object.entries(metricCatalogue).map(([name, { unit }]) => ({ Name: name, Unit: unit }))
  const byName = (one: { Name: string }, other: { Name: string }) => one.Name.localeCompare(other.Name)
  expect(
    units()
      .map(({ Name, Unit }) => ({ Name, Unit }))
      .sort(byName),
  ).toEqual(wanted.sort(byName))
})

test('what hangs on an error is not logged: it may be a request with its login', () => {
  const metrics = new Metrics({ namespace: 'Fencepost', serviceName: 'delays' })
  const logger = new Logger({ serviceName: 'delays' })
  const lines: string[] = []
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0)
  const spies = [spy, vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0)]
  onTestFinished(() => spies.forEach((one) => void one.mockRestore()))
  const cause = Object.assign(new Error('401'), { request: { headers: { authorization: 'hunter2' } } })
  const failure = { lane, error: new RelayError('SETUP_FAILED', 'no prices', { cause }) }
  const observer = powertoolsObserver(logger, metrics)
  observer.laneFailed?.(failure)
  observer.laneStopped?.(failure)
  observer.sessionReopened?.(failure)
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({
      code: 'SETUP_FAILED',
      stack: expect.stringContaining('caused by Error: 401'),
    })
    expect(line).not.toContain('hunter2')
  }
})

test('what a sweep cannot know is not reported as 0', () => {
  const { observer, units } = observed()
  observer.laneSwept?.({ lane, lagOffsets: null, committedAgeMs: null })
  observer.noopBell?.({ lane })
  expect(units().map(({ Name }) => Name)).toEqual(['NoopBells'])
})
