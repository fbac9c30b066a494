import { expect, test } from 'vitest'
import { planProblems } from '../../../infra/problems.ts'
import { alarms } from '../../../infra/resources/alarms.ts'
import { dashboard } from '../../../infra/resources/dashboard.ts'
import { powertoolsObserver } from '../../../lib/lambda/powertools-observer.ts'
import { relayTelemetry } from '../../../lib/lambda/telemetry.ts'
import { durationMs } from '../../../lib/units.ts'
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

const alarmOf = (name: string, settings: Parameters<typeof planOf>[0]) => {
  const its = planOf(settings)
  const [one] = its.relays
  return one ? alarms(its, one)[`DelaysAlarm${name}`]?.Properties : undefined
}

test.each(['10m', '1h', '12h', '1d'])(
  'a schedule every %s that fails each time is an alarm: its periods are long enough to hold an invocation each',
  (latency) => {
    const [settings, every] = [{ relays: { delays: { latency } } }, Number(durationMs(latency)) / 1_000]
    for (const name of ['Errors', 'Throttles', 'Duration']) {
      const { Period, EvaluationPeriods } = alarmOf(name, settings) ?? {}
      expect(Number(Period)).toBe(every)
      expect(Number(Period) * Number(EvaluationPeriods)).toBeLessThanOrEqual(86_400)
    }
  },
)

test('failures of a bell that rings all the time are an alarm after a quarter of an hour', () => {
  expect(alarmOf('Errors', {})).toMatchObject({ Period: 300, EvaluationPeriods: 3, DatapointsToAlarm: 3 })
})

test.each(['1m', '3m', '15m', '8h'])(
  'a sweep every %s that takes all its time is not silent: Lambda tells of an invocation at its end',
  (sweep) => {
    const timeoutSeconds = plan.relays[0]?.functions.find(({ role }) => role === 'sweep')?.timeoutSeconds
    expect(Number(alarmOf('SweepSilent', { sweep })?.Period)).toBeGreaterThanOrEqual(timeoutSeconds ?? Infinity)
    expect(alarmOf('LaneStopped', { sweep })?.Period).toBe(Number(durationMs(sweep)) / 1_000)
  },
)

test('no alarm of one relay takes the place of another one of a relay whose name begins alike', () => {
  const both = planOf({ relays: { order: {}, orderSweep: {} } })
  expect(planProblems(both)).toEqual([])
  const ids = both.relays.flatMap((one) => Object.keys(alarms(both, one)))
  expect(new Set(ids).size).toBe(ids.length)
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
