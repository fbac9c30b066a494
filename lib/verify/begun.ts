import type { History } from './history.ts'

/** Whether any offset was ever committed for the relay. */
export const hasCommitted = ({ sources }: History): boolean =>
  sources.some(({ committed, committedAfter, records }) => committed !== null || committedAfter !== null || records > 0)

/** Whether anybody has ever seen the relay under this prefix: its offsets, its producers or its fence records. */
export const hasBegun = (history: History): boolean =>
  hasCommitted(history) ||
  history.lanes.some(({ producerId, fence }) => producerId !== null || (fence !== null && fence !== 'not read'))
