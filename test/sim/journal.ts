import { createHash, type Hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'

/** Everything that can be done to a relay here. Each one counts when it has happened, never when it was only planned. */
export const faultKinds = [
  // the network
  'request-delayed',
  'request-cut',
  'request-lost',
  'request-late',
  'answer-cut',
  'answer-lost',
  // functions
  'crash',
  'pause',
  'function-timeout',
  'clock-skew',
  'slow-transform',
  'poison-record',
  'answer-of-function-lost',
  // bells
  'bell-duplicated',
  'bell-overlapped',
  'bell-missed',
  'batch-recomposed',
  // the fence table
  'fence-throttled',
  'fence-failed-before',
  'fence-failed-after',
  'fence-write-repeated-late',
  'fence-outage',
  'lease-expired',
  'table-restored',
  'table-lost',
  // brokers
  'marker-delayed',
  'offsets-seen-late',
  'offsets-dropped',
  'coordinator-moved',
  'broker-restarted',
  'broker-paused',
  'stale-coordinator',
  'transaction-timed-out',
  'source-aborted',
  'source-held-open',
  // long times and other hands
  'epoch-exhausted',
  'idle-days',
  'offsets-expired',
  'id-expired',
  'retention-passed',
  'topic-recreated',
  'offset-moved',
  'older-deployment',
] as const

export type FaultKind = (typeof faultKinds)[number]

/** What happened, in order: counted, hashed, and kept as text when somebody wants to read it. */
export class Journal {
  readonly fired = new Map<FaultKind, number>()
  readonly lines: string[] = []
  private readonly clock: Clock
  private readonly isKept: boolean
  private readonly startMs: number
  private readonly hash: Hash = createHash('sha256')
  private pending = ''

  constructor(clock: Clock, isKept: boolean) {
    this.clock = clock
    this.isKept = isKept
    this.startMs = clock.now()
  }

  note(who: string, what: string): void {
    const line = `${this.clock.now() - this.startMs} ${who}: ${what}`
    this.pending += `${line}\n`
    if (this.pending.length > 65_536) this.flush()
    if (this.isKept) this.lines.push(line)
  }

  fault(kind: FaultKind, who: string, what = ''): void {
    this.fired.set(kind, (this.fired.get(kind) ?? 0) + 1)
    this.note(who, `! ${kind}${what === '' ? '' : ` ${what}`}`)
  }

  /** Of everything noted so far. Two runs that did the same have the same digest. Ends the journal. */
  digest(): string {
    this.flush()
    return this.hash.digest('hex')
  }

  private flush(): void {
    this.hash.update(this.pending)
    this.pending = ''
  }
}
