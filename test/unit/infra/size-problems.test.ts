import { expect, test } from 'vitest'
import type { DeploymentPlan } from '../../../infra/plan.ts'
import { planProblems } from '../../../infra/problems.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const msk = 'arn:aws:kafka:eu-central-1:123456789012:cluster/shop/11111111-2222-3333-4444-555555555555-1'
const vpc = { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }

const relaysOf = (count: number) => ({
  relays: Object.fromEntries(Array.from({ length: count }, (_, index) => [`relay-${index}`, { latency: '5m' }])),
})

test('18 relays fit into a stack, and 22 do not', () => {
  expect(planProblems(planOf(relaysOf(18)))).toEqual([])
  expect(planProblems(planOf(relaysOf(22)))).toMatchObject([
    { path: 'relays', found: expect.stringMatching(/^22, which take 5\d\d resources$/) },
  ])
})

test('an environment that Lambda would not take', () => {
  const plan = (bytes: number) => planOf({ relays: { delays: { environment: { PRICES: 'p'.repeat(bytes) } } } })
  expect(planProblems(plan(3_500))).toEqual([])
  expect(planProblems(plan(4_096))).toMatchObject([{ path: 'relays.delays.environment' }])
})

test('permissions for more outputs than a policy can name', () => {
  const withOutputs = (count: number): DeploymentPlan => {
    const plan = planOf({ msk, vpc, auth: { iam: true } })
    const outputTopics = Array.from({ length: count }, (_, index) => `shop.orders.by-country.${index}`)
    return { ...plan, relays: plan.relays.map((relay) => ({ ...relay, facts: { ...relay.facts, outputTopics } })) }
  }
  expect(planProblems(withOutputs(40))).toEqual([])
  expect(planProblems(withOutputs(80))).toMatchObject([
    { path: 'relays.delays', wanted: expect.stringMatching(/bound of IAM/) },
  ])
})
