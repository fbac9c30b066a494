import { expect, test } from 'vitest'
import { versionsNeeded } from '../../../scripts/versions-needed.ts'

test.each([
  ['demo', [], ['4.1']],
  ['demo', ['--json', '--kafka', '3.9'], ['3.9']],
  ['demo', ['--kafka=3.9'], ['3.9']],
  ['demo', ['--kafka', '2.8'], []],
  ['demo', ['--brokers', 'localhost:9092'], []],
  ['demo', ['--help'], []],
  ['bench', ['throughput', '--json'], ['4.1']],
  ['chaos', ['--for', '2m'], ['4.1']],
  ['cli', ['chaos', '--kafka', '3.9'], ['3.9']],
  ['cli', ['dev'], ['4.1']],
  ['cli', ['dev', '--kafka', '3.9'], ['3.9']],
  ['cli', ['verify', '--json'], []],
  ['cli', [], []],
  ['sim', ['--seeds', '2000'], []],
  ['crash-matrix', ['--json'], []],
  ['test', [], ['4.1', '3.9']],
  ['test', ['integration'], ['4.1', '3.9']],
  ['test', ['unit'], []],
])('npm %s %j fetches Kafka %j', (task, args, versions) => {
  expect(versionsNeeded(task, args)).toEqual(versions)
})
