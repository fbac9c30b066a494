import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorCodes } from '../../../../lib/errors.ts'

const page = readFileSync(new URL('../../../../docs/operations/stopped-lanes.md', import.meta.url), 'utf8')
const stops = Object.entries(errorCodes).filter(
  ([code, [disposition]]) => disposition === 'stop-lane' && code !== 'LANE_STOPPED',
)

test.each(stops)('the page for operators has a row for %s, and no other codes', (code) => {
  expect(page).toMatch(new RegExp(`^\\| \`${code}\` \\|.*\\|.*\\|.*\\|$`, 'm'))
  expect([...page.matchAll(/^\| `([A-Z_]+)` \|/gm)]).toHaveLength(stops.length)
})
