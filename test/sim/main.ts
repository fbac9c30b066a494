import { planOf } from './plan.ts'
import { simulate } from './simulate.ts'

const [from = '1', to = from] = process.argv.slice(2)
const start = performance.now()
const fired: Record<string, number> = {}
for (let seed = Number(from); seed <= Number(to); seed++) {
  const result = await simulate(planOf(seed), { keepsTimeline: from === to })
  for (const [k, n] of result.fired) fired[k] = (fired[k] ?? 0) + n
  if (from === to) console.log(result.timeline.join('\n'))
  if (result.violations.length > 0) console.log(seed, result.violations.slice(0, 3))
}
console.log(fired, (performance.now() - start) / (Number(to) - Number(from) + 1))
