import { expect, test } from 'vitest'
import { nodeFlags } from '../../../../lib/local/lambda-host/node-flags.ts'

test('a tenth of the memory is for young objects, in two halves, the rest for old ones', () => {
  expect(nodeFlags(512)).toEqual(['--max-semi-space-size=25', '--max-old-space-size=461'])
})

test('the smallest function still has room for young objects', () => {
  expect(nodeFlags(128)).toEqual(['--max-semi-space-size=6', '--max-old-space-size=116'])
})
