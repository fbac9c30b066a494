import {
  deploymentDimension,
  type MetricName,
  metricCatalogue,
  metricNamespace,
  relayDimension,
} from '../../lib/lambda/metric-catalogue.ts'
import { days, minutes, seconds } from '../../lib/units.ts'
import { functionId, idPart, type Resource, type Resources, ref, type Value } from '../cloudformation.ts'
import type { DeploymentPlan, FunctionPlan, RelayPlan } from '../plan.ts'

interface Alarm {
  readonly id: string
  readonly about: string
  readonly metric: Readonly<Record<string, Value>>
  /** In alarm above `over`, or below `under`. */
  readonly over?: number
  readonly under?: number
  readonly periodSeconds: number
  readonly periods: number
  /** Of so many, where they need not follow each other. Default: of `periods`. */
  readonly outOf?: number
  /** Default: no data is no news. */
  readonly missing?: 'breaching'
}

/** Above a third of Kafka's memory (56 hours), at which sweeps commit positions again; below all of it (7 days). */
const fenceAgeMsMax = days(3)
/** Of the function's timeout. */
const durationShareMax = 0.9
const steadySeconds = minutes(5) / seconds(1)
/** A single failed invocation is rung again and means nothing; three times five minutes of them do. */
const steadyPeriods = 3
/** What an alarm may look at (CloudWatch, PutMetricAlarm). The slowest schedule rings once in it. */
const alarmSpanSecondsMax = days(1) / seconds(1)

/** What somebody should be woken for, or should see in the morning: docs/operations/deploy.md has the list. */
export function alarms(plan: DeploymentPlan, relay: RelayPlan): Resources {
  if (plan.alarms === false) return {}
  const actions = plan.alarms === true ? {} : { AlarmActions: [plan.alarms.topic], OKActions: [plan.alarms.topic] }
  const all = [...relayAlarms(plan, relay), ...relay.functions.flatMap((one) => functionAlarms(plan, relay, one))]
  return Object.fromEntries(
    all.map((alarm) => [`${idPart(relay.facts.name)}Alarm${alarm.id}`, resourceOf(alarm, plan, relay, actions)]),
  )
}

function relayAlarms(plan: DeploymentPlan, relay: RelayPlan): Alarm[] {
  const sweepSeconds = plan.sweepMinutes * 60
  const own = (name: MetricName): Alarm['metric'] => ({
    Namespace: metricNamespace,
    MetricName: name,
    Statistic: metricCatalogue[name].statistic,
    Dimensions: [
      { Name: relayDimension, Value: relay.facts.name },
      { Name: deploymentDimension, Value: plan.prefix },
    ],
  })
  const told = { over: 0, periodSeconds: steadySeconds, periods: 1 }
  // Sweeps and periods begin at times of their own: now and then a period has none.
  const swept = { periodSeconds: sweepSeconds, periods: 1, outOf: 2 }
  return [
    {
      id: 'LaneStopped',
      about: 'A lane stands still until an operator acts (docs/operations/stopped-lanes.md).',
      metric: own('LanesStopped'),
      over: 0,
      ...swept,
    },
    { id: 'DeadLetters', about: 'Records were sent to the dead letters.', metric: own('DeadLetters'), ...told },
    {
      id: 'Notice',
      about: 'A rollback, a restored table or a poison record: see the log.',
      metric: own('Alarms'),
      ...told,
    },
    {
      id: 'Lag',
      about: `A lane is more than ${relay.lagAlarm} offsets behind, sweep after sweep.`,
      metric: own('LagRecords'),
      over: relay.lagAlarm,
      periodSeconds: sweepSeconds,
      periods: 2,
      outOf: 3,
    },
    {
      id: 'FenceAge',
      about: 'A lane has not committed its positions for days: Kafka is about to forget them.',
      metric: own('FenceAgeMs'),
      over: fenceAgeMsMax,
      ...swept,
    },
  ]
}

function functionAlarms(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): Alarm[] {
  const of = (MetricName: string, Statistic: string): Alarm['metric'] => ({
    Namespace: 'AWS/Lambda',
    MetricName,
    Statistic,
    Dimensions: [{ Name: 'FunctionName', Value: ref(functionId(one.key)) }],
  })
  if (one.role === 'status') return []
  if (one.role === 'sweep') {
    // Lambda tells of an invocation at its end.
    const swept = { periodSeconds: Math.max(plan.sweepMinutes * 60, one.timeoutSeconds), periods: 2 }
    return [
      { id: 'SweepErrors', about: 'The sweep fails.', metric: of('Errors', 'Sum'), over: 0, ...swept },
      {
        id: 'SweepSilent',
        about: 'The sweep does not run: nothing keeps idle lanes alive, and nothing would tell of stopped ones.',
        metric: of('Invocations', 'Sum'),
        under: 1,
        ...swept,
        missing: 'breaching',
      },
    ]
  }
  const steady = steadily(one)
  const alarmsOfBell: Alarm[] = [
    { id: 'Errors', about: 'Invocations fail again and again.', metric: of('Errors', 'Sum'), over: 0, ...steady },
    {
      id: 'Throttles',
      about: 'Lambda has no room for the function.',
      metric: of('Throttles', 'Sum'),
      over: 0,
      ...steady,
    },
  ]
  if (relay.trigger.kind === 'linger') return alarmsOfBell // takes all its time by intent
  const over = Math.round(one.timeoutSeconds * seconds(1) * durationShareMax)
  const about = `Invocations take more than ${over} ms, near their timeout.`
  return [...alarmsOfBell, { id: 'Duration', about, metric: of('Duration', 'Maximum'), over, ...steady }]
}

/** A period without an invocation counts as a good one, so each must be long enough to have one. */
function steadily({ everyMinutes }: FunctionPlan) {
  const periodSeconds = Math.max(steadySeconds, (everyMinutes ?? 0) * 60)
  return { periodSeconds, periods: Math.min(steadyPeriods, Math.floor(alarmSpanSecondsMax / periodSeconds)) }
}

function resourceOf(alarm: Alarm, plan: DeploymentPlan, relay: RelayPlan, actions: Resource['Properties']): Resource {
  const { service, stage } = plan.place
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${service}-${stage}-${relay.facts.name}-${alarm.id}`,
      AlarmDescription: alarm.about,
      ...alarm.metric,
      ComparisonOperator: alarm.under === undefined ? 'GreaterThanThreshold' : 'LessThanThreshold',
      Threshold: alarm.under ?? alarm.over ?? 0,
      Period: alarm.periodSeconds,
      EvaluationPeriods: alarm.outOf ?? alarm.periods,
      DatapointsToAlarm: alarm.periods,
      TreatMissingData: alarm.missing ?? 'notBreaching',
      ...actions,
    },
  }
}
