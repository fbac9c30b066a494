import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prices } from '../../../lib/cost/prices.ts'
import { costPage } from '../../../scripts/cost-page.ts'

test('docs/operations/cost.md is what the code says today (npm run generate:cost)', async () => {
  const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'operations', 'cost.md')
  expect(await readFile(page, 'utf8')).toBe(costPage())
})

test('every price has a source that can be opened', () => {
  for (const [name, { source, usd }] of Object.entries(prices)) {
    expect(new URL(source).protocol, name).toBe('https:')
    expect(usd, name).toBeGreaterThan(0)
  }
})
