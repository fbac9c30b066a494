import { expect, test } from 'vitest'
import { testRelay } from '../../lib/testing/index.ts'
import hotSensors, { toCelsius } from './relay.ts'

const reading = (sensor: string, fahrenheit: number) => ({ key: sensor, value: { fahrenheit, at: '10:00' } })

test('a hot reading becomes an alert in Celsius; others are dropped', async () => {
  const relay = testRelay(hotSensors)
  await relay.pipe([reading('boiler', 68), reading('oven', 212), reading('boiler', 140)])
  expect(relay.outputs.alerts.values()).toEqual([
    { sensor: 'oven', celsius: 100, at: '10:00' },
    { sensor: 'boiler', celsius: 60, at: '10:00' },
  ])
})

test('an alert keeps the key of its reading, so that a sensor stays in one partition', async () => {
  const relay = testRelay(hotSensors, { partitions: 3 })
  await relay.pipe([reading('oven', 212), reading('oven', 300)])
  const alerts = relay.outputs.alerts.records()
  expect(alerts.map(({ key }) => String(key))).toEqual(['oven', 'oven'])
  expect(new Set(alerts.map(({ partition }) => partition)).size).toBe(1)
})

test('an alert is given once although the function dies before and after the commit', async () => {
  const relay = testRelay(hotSensors)
  await relay.crash('before-commit')
  await relay.pipe(reading('oven', 212))
  await relay.crash('after-commit')
  await relay.pipe(reading('oven', 230))
  expect(relay.outputs.alerts.values().map(({ celsius }) => celsius)).toEqual([100, 110])
})

test('Fahrenheit is converted to a tenth of a degree', () => {
  expect([32, 212, 99, -40].map(toCelsius)).toEqual([0, 100, 37.2, -40])
})
