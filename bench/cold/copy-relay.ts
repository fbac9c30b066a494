import { bytes, defineRelay, topic } from '../../lib/index.ts'

/** What the cold start of a function relays: as small as a relay can be, so that what is measured is Fencepost. */
export default defineRelay({
  name: 'copy',
  source: topic('source.relay', bytes()),
  outputs: { copied: topic('output.relay', bytes()) },
  transform: (record, { emit }) => emit.copied(record.value),
})
