/** A relay to be bundled by tests: JSON in, the same bytes out; its topics are named by its environment. */
import { bytes, defineRelay, json, nullable, topic } from '../../lib/index.ts'

const named = (name: string): string => process.env[name] ?? name

export default defineRelay({
  name: 'odd',
  source: topic(named('TEST_SOURCE'), nullable(json<object>())),
  outputs: { copy: topic(named('TEST_OUTPUT'), nullable(bytes())) },
  deadLetters: topic(named('TEST_DEAD')),
  transform: (record, { emit }) => emit.copy(record.raw.value),
})
