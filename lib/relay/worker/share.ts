/** The workers of one relay that are alive, in an order that all of them see, and where this one stands in it. */
export interface Crew {
  readonly workers: number
  /** From 0. */
  readonly rank: number
}

/** How many lanes this worker should have at most: the shares of a crew differ by one and add up to all lanes. */
export function fairShare(lanes: number, { workers, rank }: Crew): number {
  return Math.floor(lanes / workers) + (rank < lanes % workers ? 1 : 0)
}
