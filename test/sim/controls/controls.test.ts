import { describe, expect, it } from 'vitest'
import { calmPlan } from '../calm.ts'
import { simulate } from '../simulate.ts'
import { catchControl } from './catch.ts'
import { controls, planFor } from './controls.ts'

/** Those that few seeds give away. All of them: `npm run sim -- --controls`. */
const quick = [
  'new-sequence',
  'commits-last-record',
  'silence-is-failure',
  'reads-by-name',
  'acks-not-awaited',
  'commits-plainly',
  'trusts-holes',
]
const seedsMax = 60

describe('a relay with a rule taken out', () => {
  it.each(controls)('$name works in calm weather, so that only faults give it away', async (control) => {
    const calm = calmPlan(1)
    const { protocol, nodes, promise } = planFor(control, calm) // the brokers of its focus, not its weather
    const { violations } = await simulate({ ...calm, protocol, nodes, promise }, { sabotage: control.sabotage })
    expect(violations).toEqual([])
  })

  it.each(controls.filter(({ name }) => quick.includes(name)))(
    '$name is caught ($breaks)',
    async (control) => {
      const { seeds } = await catchControl(control, seedsMax)
      expect(seeds).not.toBeNull()
    },
    120_000,
  )
})
