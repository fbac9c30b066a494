import { expect, test } from 'vitest'
import { alarms } from '../../../infra/resources/alarms.ts'
import { dashboard } from '../../../infra/resources/dashboard.ts'
import { powertoolsObserver } from '../../../lib/lambda/powertools-observer.ts'
import { relayTelemetry } from '../../../lib/lambda/telemetry.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const plan = planOf()
const [relay] = plan.relays
if (!relay) throw new Error('a plan without relays')

/** Namespace and dimensions with which a function of the plan emits. */
function emitted() {
  const { logger, metrics } = relayTelemetry(relay?.facts ?? { name: '' }, { FENCEPOST_PREFIX: plan.prefix })
  powertoolsObserver(logger, metrics).noopBell?.({ lane: 'shop-prod.delays.flights.0' })
  const emf = metrics.serializeMetrics()
  const [directive] = emf._aws.CloudWatchMetrics
  const names = [directive?.Dimensions ?? []].flat(2).sort()
  return { namespace: directive?.Namespace, dimensions: names.map((name) => [name, emf[name]]) }
}

test('alarms look where functions emit: another dimension would be another metric, which has no data', () => {
  const { namespace, dimensions } = emitted()
  const own = Object.values(alarms(plan, relay)).filter(({ Properties }) => Properties.Namespace === namespace)
  expect(own).toHaveLength(5)
  for (const { Properties } of own) {
    const watched = (Properties.Dimensions as { Name: string; Value: string }[]).map(({ Name, Value }) => [Name, Value])
    expect(watched.sort()).toEqual(dimensions)
  }
})

test('so does the dashboard', () => {
  const { namespace, dimensions } = emitted()
  const body = dashboard(plan).Dashboard?.Properties.DashboardBody as { 'Fn::Sub': string }
  const { widgets } = JSON.parse(body['Fn::Sub']) as { widgets: { properties: { metrics?: unknown[][] } }[] }
  const own = widgets.flatMap(({ properties }) => properties.metrics ?? []).filter(([first]) => first === namespace)
  expect(own.length).toBeGreaterThan(10)
  for (const [, , ...rest] of own) expect(pairs(rest.slice(0, -1)).sort()).toEqual(dimensions)
})

test('widgets lie side by side, none on another, none past the edge', () => {
  const body = dashboard(planOf({ relays: { delays: {}, spend: {} } })).Dashboard?.Properties.DashboardBody
  const { widgets } = JSON.parse((body as { 'Fn::Sub': string })['Fn::Sub']) as { widgets: Place[] }
  const overlapping = widgets.filter((one, index) => widgets.slice(index + 1).some((other) => overlap(one, other)))
  expect(overlapping).toEqual([])
  expect(widgets.filter(({ x, width }) => x + width > 24)).toEqual([])
})

interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const overlap = (one: Place, other: Place): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height

const pairs = (flat: readonly unknown[]): unknown[][] =>
  flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]]] : []))

test('without alarms or dashboard there are none; with a topic each alarm tells it', () => {
  const quiet = planOf({ alarms: false, dashboard: false })
  expect(quiet.relays.map((one) => alarms(quiet, one))).toEqual([{}])
  expect(dashboard(quiet)).toEqual({})
  const topic = 'arn:aws:sns:eu-central-1:123456789012:on-call'
  const told = planOf({ alarms: { topic } })
  const all = Object.values(told.relays[0] ? alarms(told, told.relays[0]) : {})
  expect(all).toHaveLength(10)
  expect(all.filter(({ Properties }) => JSON.stringify(Properties.AlarmActions) !== JSON.stringify([topic]))).toEqual(
    [],
  )
})
