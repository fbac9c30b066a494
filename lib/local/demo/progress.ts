/** Where a demo stands, for whoever shows it. */
export interface DemoProgress {
  readonly seconds: number
  /** Flights that arrive in all, and those that have arrived. */
  readonly records: number
  readonly arrived: number
  /** Source records whose offsets the relay has committed. */
  readonly relayed: number
  /** Records in the output topics as each kind of reader sees them. */
  readonly seenUncommitted: number
  readonly seenCommitted: number
  readonly kills: number
  readonly redeliveries: number
  readonly invocations: number
  readonly windows: number
}
