import type { History, SourceLog } from './history.ts'

/** Whether any offset was ever committed for the relay. */
export const hasCommitted = ({ sources }: History): boolean =>
  sources.some(({ committed, committedAfter, records }) => committed !== null || committedAfter !== null || records > 0)

/**
 * Nothing is known of a partition under this prefix: no offset, no producer, no fence record. Then somebody else relays it,
 * or Kafka has forgotten an idle lane after a week and the table was not given.
 */
export function isUnheardOf({ lanes }: History, { transactionalId, committed, committedAfter }: SourceLog): boolean {
  if (committed !== null || committedAfter !== null) return false
  const lane = lanes.find((one) => one.transactionalId === transactionalId)
  return !lane || (lane.producerId === null && (lane.fence === null || lane.fence === 'not read'))
}
