import { type MetricName, metricCatalogue, metricNamespace } from '../../../lib/lambda/metric-catalogue.ts'
import { minutes, seconds } from '../../../lib/units.ts'
import { type Assertion, at, ofType, unless } from './deployed.ts'

const alarmIds = ['LaneStopped', 'DeadLetters', 'Notice', 'Lag', 'FenceAge', 'Errors', 'Throttles']
const sweepAlarmIds = ['SweepErrors', 'SweepSilent']

export const watchAssertions: readonly Assertion[] = [
  {
    says: 'every relay is watched: stopped lanes, dead letters, lag, age, errors, throttles, and the sweep itself',
    faults: (deployed) => {
      const names = ofType(deployed, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => String(Properties.AlarmName))
      const relays = deployed.functions.filter(({ key }) => key.endsWith('-sweep')).map(({ key }) => key.slice(0, -6))
      return relays.flatMap((relay) =>
        [...alarmIds, ...sweepAlarmIds]
          .map((id) => `-${relay}-${id}`)
          .filter((end) => !names.some((name) => name.endsWith(end))),
      )
    },
  },
  {
    says: 'alarms look at metrics that are emitted, within the bounds of CloudWatch',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::CloudWatch::Alarm'), ({ Properties: its }) => {
        const isKnown = its.Namespace !== metricNamespace || String(its.MetricName) in metricCatalogue
        const spanSeconds = Number(its.Period) * Number(its.EvaluationPeriods)
        return isKnown && Number(its.Period) % 60 === 0 && spanSeconds <= minutes(24 * 60) / seconds(1)
      }),
  },
  {
    says: 'silence of the sweep is an alarm, silence of everything else is not',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::CloudWatch::Alarm'), ({ Properties: its }) => {
        const wanted = String(its.AlarmName).endsWith('-SweepSilent') ? 'breaching' : 'notBreaching'
        return its.TreatMissingData === wanted
      }),
  },
  {
    says: 'the dashboard is JSON and shows every metric of the catalogue',
    faults: (deployed) =>
      ofType(deployed, 'AWS::CloudWatch::Dashboard').flatMap(([, { Properties }]) => {
        const { widgets } = JSON.parse(String(at(Properties, 'DashboardBody', 'Fn::Sub')))
        const shown = JSON.stringify(widgets)
        return (Object.keys(metricCatalogue) as MetricName[]).filter((name) => !shown.includes(`"${name}"`))
      }),
  },
]
