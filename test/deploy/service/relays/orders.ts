import { bytes, defineRelay, topic } from '../../../../lib/index.ts'

/** Relays that differ in their names and topics only: what is deployed is what is tested, not what they do. */
export const copyOf = (source: string, name: string) =>
  defineRelay({
    name,
    source: topic(source, bytes()),
    outputs: { copies: topic(`${source}.copies`, bytes()) },
    transform: (record, { emit }) => emit.copies(record.value),
  })
