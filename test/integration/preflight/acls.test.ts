import { expect, test } from 'vitest'
import { runAclCases } from '../../acl/run.ts'

test('a relay works with exactly the documented ACLs; it and preflight name each that is missing, and nothing is lost', {
  timeout: 120_000,
}, async () => {
  const results = await runAclCases('4.1', () => undefined)
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect(results.filter(({ required }) => required).length).toBeGreaterThanOrEqual(16)
})
