import * as v from 'valibot'
import { defineRelay, json, string, topic } from '../../lib/index.ts'

const Reading = v.object({ fahrenheit: v.number(), at: v.string() })

export interface Alert {
  readonly sensor: string
  readonly celsius: number
  readonly at: string
}

const alertFromCelsius = 60

/** Drops readings below 60 °C, and turns the others into alerts. */
export default defineRelay({
  name: 'hot-sensors',
  source: topic('readings', json(Reading), { key: string() }),
  outputs: { alerts: topic('readings.alerts', json<Alert>()) },
  deadLetters: topic('readings.dead'),
  transform(record, { emit }) {
    const celsius = toCelsius(record.value.fahrenheit)
    if (celsius < alertFromCelsius) return
    emit.alerts({ sensor: record.key ?? 'unknown', celsius, at: record.value.at })
  },
})

export const toCelsius = (fahrenheit: number): number => Math.round(((fahrenheit - 32) * 50) / 9) / 10
