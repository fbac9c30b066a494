import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alarms } from '../../../infra/resources/alarms.ts'
import { figures } from '../../../lib/cost/figures.ts'
import { alarmsPerRelay } from '../../../lib/cost/surroundings.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const results = async (name: string) =>
  JSON.parse(await readFile(join(root, 'bench', 'results', `${name}.json`), 'utf8'))

/** Published figures move with the load of the machine; an estimate follows when they have really changed. */
const within = (found: number, figure: number) => expect(found / figure).toSatisfy((ratio) => ratio > 0.5 && ratio < 2)

test('the CPU of a record is what the published benchmark measured', async () => {
  const { relay, workload } = await results('throughput')
  expect(workload.valueBytes).toBe(figures.recordBytes)
  within(relay.cpuSeconds, figures.cpuMicrosPerRecord) // seconds a million are microseconds each
})

test('times of bells and windows are what the published benchmark measured', async () => {
  const { relay } = await results('latency')
  within(relay.msMean, figures.windowMs)
  within(relay.msP99, figures.windowP99Ms)
  within(relay.toAnswer.msMean, figures.bellMs)
  within(relay.toAnswer.msP99, figures.bellP99Ms)
})

interface LanesRun {
  readonly levels: readonly { readonly commitEveryMs: number; readonly relayCpuMsPerTransaction: number }[]
}

test('the CPU of a window is what every published run measured for lanes that commit twice a second', async () => {
  const runs: readonly LanesRun[] = await results('lanes')
  const twice = runs.flatMap(({ levels }) => levels.filter(({ commitEveryMs }) => commitEveryMs === 500))
  expect(twice).not.toHaveLength(0)
  for (const { relayCpuMsPerTransaction } of twice) within(relayCpuMsPerTransaction, figures.windowCpuMs)
})

test('as many alarms are estimated as a relay gets', () => {
  expect(Object.keys(alarmsOfOneRelay())).toHaveLength(alarmsPerRelay)
})

function alarmsOfOneRelay() {
  const plan = planOf()
  const [relay] = plan.relays
  return relay ? alarms(plan, relay) : expect.fail('a plan without a relay')
}
