import { expect, test } from 'vitest'
import { formatCommitMetadata, parseCommitMetadata } from '../../../lib/relay/commit-metadata.ts'

const metadata = { lineage: 'l', id: 'a.b.c.0', topicId: 't', clusterId: 'c', token: 7, from: 12345678901234567890n }

test('what was formatted is read back, offsets beyond 2^53 included', () => {
  expect(parseCommitMetadata(formatCommitMetadata(metadata))).toEqual(metadata)
})
test('version 1 is written as it always was', () => {
  expect(formatCommitMetadata(metadata)).toBe(
    '{"v":1,"lineage":"l","id":"a.b.c.0","topicId":"t","clusterId":"c","token":7,"from":"12345678901234567890"}',
  )
})
test.each([
  '',
  'x',
  '{}',
  'null',
  '[]',
  '7',
  '{"v":2,"lineage":"l","id":"i","topicId":"t","clusterId":"c","token":1,"from":"0"}',
  '{"v":1,"lineage":"l","id":"i","topicId":"t","clusterId":"c","token":"1","from":"0"}',
  '{"v":1,"lineage":"l","id":"i","topicId":"t","clusterId":"c","token":1,"from":"-1"}',
])('a string of anybody else is not ours: %s', (text) => expect(parseCommitMetadata(text)).toBeNull())
