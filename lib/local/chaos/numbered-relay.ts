import { bytes, defineRelay, topic } from '../../index.ts'

/** Gives one output for each record, byte for byte: whatever happens to it, its number tells. */
export default defineRelay({
  name: 'numbered',
  source: topic('numbered', bytes()),
  outputs: { copy: topic('numbered.copy', bytes()) },
  deadLetters: topic('numbered.dead'),
  window: { records: 500 },
  transform(record, { emit }) {
    emit.copy(record.value)
  },
})
