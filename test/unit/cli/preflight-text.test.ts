import { expect, test } from 'vitest'
import { preflightLines } from '../../../lib/cli/preflight-text.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'
import { told, untold } from '../../../lib/preflight/finding.ts'
import { judge } from '../../../lib/preflight/preflight.ts'
import { soundFacts, soundMapping, stateWith } from '../../helpers/preflight-facts.ts'

const terminal: Terminal = {
  out: () => undefined,
  err: () => undefined,
  color: false,
  interrupted: new AbortController().signal,
}

const topics = soundFacts.topics.told ? soundFacts.topics.value : []
const weak = stateWith({}, { 'min.insync.replicas': '1' })
const report = judge({
  ...soundFacts,
  topics: told(topics.map((topic) => (topic.name === 'orders.out' ? { ...topic, state: told(weak) } : topic))),
  mappings: [{ ...soundMapping, bisect: told(true), retriesMax: untold('computed when it is deployed') }],
})

test('says what is fine in a few lines, and of each fault what was found, what is wanted, and the fix', () => {
  const text = preflightLines(report, terminal).join('\n')
  expect(text).toMatch(/^✓ broker +connection 3 brokers, version Kafka 4\.1,/m)
  expect(text).toMatch(
    /^✗ orders\.out +min\.insync\.replicas is 1, wanted 2 or more\n +fix: kafka-configs\.sh --alter/m,
  )
  expect(text).toMatch(/^! OrdersMapping +BisectBatchOnFunctionError is true, wanted false\n +fix: set false/m)
  expect(text).toMatch(/^\? OrdersMapping +MaximumRetryAttempts is not known: computed when/m)
  expect(text).toMatch(/1 warning, 1 failure, 1 not known\. Not ready: mend what fails first\.$/)
})

test('fits 80 columns, with names of any length, without colours where none are wanted', () => {
  const long = judge({ ...soundFacts, mappings: [{ ...soundMapping, name: 'm'.repeat(60), retriesMax: told(3) }] })
  for (const line of [...preflightLines(report, terminal), ...preflightLines(long, terminal)]) {
    expect(line.length).toBeLessThanOrEqual(80)
    expect(line).not.toContain('\u001b')
  }
  expect(preflightLines(report, { ...terminal, color: true }).at(-1)).toContain('\u001b[1m')
})

test('a deployment without faults is ready', () => {
  expect(preflightLines(judge(soundFacts), terminal).at(-1)).toMatch(/^\d+ ok\. Ready to relay\.$/)
})
