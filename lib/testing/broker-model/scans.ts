import type { Clock } from '../../clock.ts'

export interface ScanPlan {
  readonly everyMs: number
  readonly run: () => void
}

/** What brokers do every so often, done once for all the times that it has been due since it was last asked for. */
export class Scans {
  private readonly clock: Clock
  private readonly scans: { readonly plan: ScanPlan; dueMs: number }[]

  constructor(clock: Clock, plans: readonly ScanPlan[]) {
    this.clock = clock
    this.scans = plans.map((plan) => ({ plan, dueMs: clock.now() + plan.everyMs }))
  }

  run(): void {
    const nowMs = this.clock.now()
    for (const scan of this.scans) {
      if (scan.dueMs > nowMs) continue
      scan.dueMs = nowMs + scan.plan.everyMs
      scan.plan.run()
    }
  }
}
