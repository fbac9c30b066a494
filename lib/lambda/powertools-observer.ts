import type { Logger } from '@aws-lambda-powertools/logger'
import type { Metrics } from '@aws-lambda-powertools/metrics'
import type { RelayError } from '../errors.ts'
import type { RelayObserver } from '../relay/observer.ts'
import { type MetricName, metricCatalogue } from './metric-catalogue.ts'
import { stackOf } from './stack-of.ts'

/**
 * What happens in the engine as structured logs and CloudWatch metrics. Metrics are by relay, not by lane: each further
 * dimension is billed. Windows, and lanes that go on where they were left, are logged at DEBUG: a busy lane has many a second.
 */
export function powertoolsObserver(logger: Logger, metrics: Metrics): RelayObserver {
  const measure = (name: MetricName, value: number) => metrics.addMetric(name, metricCatalogue[name].unit, value)
  const count = (name: MetricName, value = 1) => measure(name, value)
  const failed = (message: string, { lane, error }: { lane: string; error: RelayError }) => ({
    message,
    lane,
    code: error.code,
    disposition: error.disposition,
    outcome: error.outcome,
    context: error.context,
    stack: stackOf(error),
  })
  return {
    noopBell: () => count('NoopBells'),
    laneOpened(event) {
      if (event.warm) logger.debug('lane opened', event)
      else logger.info('lane opened', event)
    },
    windowCommitted(event) {
      logger.debug('window committed', { ...event })
      const { counts, timings } = event
      count('WindowsCommitted')
      count('RecordsRelayed', counts.records)
      count('OutputsWritten', counts.outputs)
      if (counts.deadLetters > 0) count('DeadLetters', counts.deadLetters)
      if (counts.skipped > 0) count('RecordsSkipped', counts.skipped)
      measure('WindowMs', timings.readMs + timings.transformMs + timings.commitMs)
    },
    sessionReopened(event) {
      count('SessionsReopened')
      logger.warn(failed('session reopened', event))
    },
    stoodDown(event) {
      count('StoodDown')
      logger.info('stood down', event)
    },
    laneStopped(event) {
      count('LanesStopped')
      logger.error(failed('lane stopped', event))
    },
    laneFailed(event) {
      count('LanesFailed')
      logger.warn(failed('lane failed', event))
    },
    laneSwept({ lagOffsets, committedAgeMs }) {
      if (lagOffsets !== null) measure('LagRecords', lagOffsets)
      if (committedAgeMs !== null) measure('FenceAgeMs', committedAgeMs)
    },
    laneReleased: (event) => logger.debug('lane released', event),
    alarm(event) {
      count('Alarms')
      logger.error(event.message, event)
    },
  }
}
