import { expect, it } from 'vitest'
import { planOf } from './plan.ts'
import { simulate } from './simulate.ts'

const seedsEach = 20

it.each([1, 2, 3, 4, 5])(
  'keeps what each relay promises under the faults of seeds %i of 5',
  async (part) => {
    const from = (part - 1) * seedsEach + 1
    const failed: string[] = []
    for (let seed = from; seed < from + seedsEach; seed++) {
      const { violations } = await simulate(planOf(seed))
      if (violations.length > 0) failed.push(`npm run sim -- --seed ${seed}: ${violations[0]}`)
    }
    expect(failed).toEqual([])
  },
  120_000,
)
