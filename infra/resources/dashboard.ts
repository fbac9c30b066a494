import {
  deploymentDimension,
  type MetricEntry,
  metricCatalogue,
  metricNamespace,
  relayDimension,
} from '../../lib/lambda/metric-catalogue.ts'
import { minutes, seconds } from '../../lib/units.ts'
import { functionId, type Resources } from '../cloudformation.ts'
import type { DeploymentPlan, FunctionPlan, RelayPlan } from '../plan.ts'

const columns = 4
/** CloudWatch's grid is 24 wide. */
const width = 24 / columns
const height = 5
const periodSeconds = minutes(5) / seconds(1)

type Metric = readonly (string | Readonly<Record<string, string>>)[]
interface Widget {
  readonly title: string
  readonly metrics: readonly Metric[]
}

/** One dashboard of a deployment: for each relay every metric of the catalogue, and what Lambda says of its functions. */
export function dashboard(plan: DeploymentPlan): Resources {
  if (!plan.dashboard) return {}
  const { service, stage } = plan.place
  const rows = plan.relays.flatMap((relay) => [
    { text: `## ${relay.facts.name}: ${relay.facts.sourceTopic}` },
    ...metricWidgets(plan, relay),
    ...lambdaWidgets(relay.functions),
  ])
  return {
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: {
        DashboardName: `${service}-${stage}`,
        DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets: placed(rows) }) },
      },
    },
  }
}

function metricWidgets({ prefix }: DeploymentPlan, { facts }: RelayPlan): Widget[] {
  const dimensions = [relayDimension, facts.name, deploymentDimension, prefix]
  return Object.entries<MetricEntry>(metricCatalogue).map(([name, { statistic, about }]) => ({
    title: `${name}: ${about}`,
    metrics: [[metricNamespace, name, ...dimensions, { stat: statistic }]],
  }))
}

function lambdaWidgets(functions: readonly FunctionPlan[]): Widget[] {
  const all = (name: string, stat: string): Widget => ({
    title: `Functions: ${name}`,
    metrics: functions.map(({ key }) => [
      'AWS/Lambda',
      name,
      'FunctionName',
      `\${${functionId(key)}}`,
      { stat, label: key },
    ]),
  })
  return [all('Invocations', 'Sum'), all('Errors', 'Sum'), all('Throttles', 'Sum'), all('Duration', 'Maximum')]
}

/** Headings over the whole width, the rest in columns. */
function placed(items: readonly (Widget | { readonly text: string })[]) {
  let [x, y] = [0, 0]
  return items.map((item) => {
    if ('text' in item) {
      if (y > 0 || x > 0) y += height
      x = 0
      const heading = { type: 'text', x, y, width: 24, height: 1, properties: { markdown: item.text } }
      y += 1
      return heading
    }
    if (x === 24) {
      x = 0
      y += height
    }
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's Fn::Sub fills it in
    const graph = { region: '${AWS::Region}', view: 'timeSeries', period: periodSeconds }
    const widget = { type: 'metric', x, y, width, height, properties: { ...item, ...graph } }
    x += width
    return widget
  })
}
