import { type MetricName, metricCatalogue } from '../lambda/metric-catalogue.ts'
import type { Usage } from './bill.ts'
import { assumptions, figures } from './figures.ts'
import type { Load } from './load.ts'
import { secondsPerMonth } from './work.ts'

/** Metrics that are told all the time; the others are billed only for hours in which something happens. */
const steady: readonly MetricName[] = [
  'RecordsRelayed',
  'OutputsWritten',
  'WindowsCommitted',
  'WindowMs',
  'LagRecords',
  'FenceAgeMs',
]

export const steadyMetrics: Usage = { metricMonths: steady.filter((name) => name in metricCatalogue).length }

/** Of a relay with a trigger other than a lingering pull, which has no alarm for its duration. */
export const alarmsPerRelay = 10

/** Three functions of a third of a megabyte, and what the Serverless CLI keeps of five deployments. */
const zipGb = 0.000_35
const artifactsGb = 3 * 5 * zipGb

const sweepEverySeconds = 900
const sweepSeconds = 1
const recordKb = 1

/** What a deployment takes besides its bells, whatever its trigger: the sweep, metrics, alarms, a dashboard, its zips. */
export function deploymentUsage({ partitions, memoryMb }: Load): Usage {
  const sweeps = secondsPerMonth / sweepEverySeconds
  const scanUnits = Math.max(1, Math.ceil((partitions * recordKb) / 4))
  return {
    ...steadyMetrics,
    alarmMonths: alarmsPerRelay,
    dashboardMonths: 1,
    s3GbMonths: artifactsGb,
    lambdaRequests: sweeps,
    lambdaGbSeconds: (sweeps * (sweepSeconds + figures.idleBellMs / 1_000) * memoryMb) / 1_024,
    dynamoDbReads: sweeps * scanUnits,
    logGb: (sweeps * assumptions.logBytesPerInvocation) / 1e9,
  }
}
