import type { Deadline } from '../../lib/clock.ts'
import { type ErrorCode, type Outcome, RelayError } from '../../lib/errors.ts'
import type { FenceRecord } from '../../lib/fencing/fence-record.ts'
import type { FenceStore, FenceWrite, FenceWriteResult } from '../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../lib/fencing/memory-fence-store.ts'
import type { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import type { Dice } from './dice.ts'
import type { FaultKind, Journal } from './journal.ts'
import type { Weather } from './network.ts'
import type { FencesPlan } from './plan.ts'

export interface Change {
  readonly before: FenceRecord | null
  readonly after: FenceRecord
}

/**
 * The fence table as it is in truth, whoever was told of it. Everything that is written passes `onChange`, so that a judge
 * can hold the rules of the record against it.
 */
export class FenceTable {
  private rows = createMemoryFenceStore()
  private readonly listeners: ((change: Change) => void)[] = []

  onChange(listener: (change: Change) => void): void {
    this.listeners.push(listener)
  }

  read(id: string): Promise<FenceRecord | null> {
    return this.rows.read(id, forEver)
  }

  async write(write: FenceWrite): Promise<FenceWriteResult> {
    const id = write.kind === 'create' ? write.record.id : write.id
    const before = await this.read(id)
    const result = await this.rows.write(write, forEver)
    if (result.kind === 'written' && result.record !== before) {
      for (const listener of this.listeners) listener({ before, after: result.record })
    }
    return result
  }

  rememberFirst(id: string, text: string): Promise<string> {
    return this.rows.rememberFirst(id, text, forEver)
  }

  async records(): Promise<readonly FenceRecord[]> {
    return (await this.rows.list('', forEver)).records
  }

  /** From a backup: rows made since then are gone. */
  async restore(records: readonly FenceRecord[]): Promise<void> {
    this.rows = createMemoryFenceStore()
    for (const record of records) await this.rows.write({ kind: 'create', record, writer: 'backup' }, forEver)
  }
}

const forEver: Deadline = { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY }

/** One client of the table, over a network and a service that have bad days. */
export class SimFenceStore implements FenceStore {
  private readonly table: FenceTable
  private readonly plan: FencesPlan
  private readonly dice: Dice
  private readonly clock: VirtualClock
  private readonly journal: Journal
  private readonly weather: FenceWeather

  constructor(
    table: FenceTable,
    plan: FencesPlan,
    dice: Dice,
    { clock, journal, weather }: { clock: VirtualClock; journal: Journal; weather: FenceWeather },
  ) {
    this.table = table
    this.plan = plan
    this.dice = dice
    this.clock = clock
    this.journal = journal
    this.weather = weather
  }

  read(id: string, deadline: Deadline): Promise<FenceRecord | null> {
    return this.request(`read ${id}`, 'not-applied', () => this.table.read(id), deadline)
  }

  write(write: FenceWrite, deadline: Deadline): Promise<FenceWriteResult> {
    const what = write.kind === 'create' ? `create ${write.record.id}` : `update ${write.id} r${write.revision}`
    return this.request(what, 'unknown', () => this.apply(write), deadline)
  }

  rememberFirst(id: string, text: string, deadline: Deadline): Promise<string> {
    return this.request(`remember ${id}`, 'unknown', () => this.table.rememberFirst(id, text), deadline)
  }

  async list(prefix: string, deadline: Deadline) {
    const list = async () => (await this.table.records()).filter(({ id }) => id.startsWith(prefix))
    return { records: await this.request('list', 'not-applied', list, deadline), unreadable: [] }
  }

  close(): void {}

  private async apply(write: FenceWrite): Promise<FenceWriteResult> {
    const result = await this.table.write(write)
    if (this.weather.isRough && this.dice.chance(this.plan.repeatLate)) void this.repeat(write)
    return result
  }

  /** The SDK's own retry, which arrives long after the answer to the first copy (P14). */
  private async repeat(write: FenceWrite): Promise<void> {
    await this.clock.sleep(this.dice.between(1, 10_000))
    this.journal.fault('fence-write-repeated-late', 'fences', write.kind)
    await this.table.write(write)
  }

  private async request<T>(what: string, lost: Outcome, act: () => Promise<T>, deadline: Deadline): Promise<T> {
    const { dice, plan } = this
    await this.travel(deadline, lost)
    if (this.weather.isRough && dice.chance(plan.throttle)) {
      throw this.failure('FENCE_STORE_THROTTLED', 'fence-throttled', what, 'not-applied')
    }
    const isOut = this.weather.fencesOut
    if (isOut || (this.weather.isRough && dice.chance(plan.failBefore))) {
      throw this.failure('FENCE_STORE_UNAVAILABLE', isOut ? 'fence-outage' : 'fence-failed-before', what, lost)
    }
    const result = await act()
    if (this.weather.isRough && dice.chance(plan.failAfter)) {
      throw this.failure('FENCE_STORE_UNAVAILABLE', 'fence-failed-after', what, lost)
    }
    await this.travel(deadline, lost)
    return result
  }

  private async travel(deadline: Deadline, outcome: Outcome): Promise<void> {
    const ms = this.weather.isRough ? this.dice.between(0, this.plan.delayMsMax) : 0
    const leftMs = Math.max(0, deadline.remainingMs())
    if (ms > 0) await this.clock.sleep(Math.min(ms, leftMs))
    if (ms > leftMs) throw new RelayError('FENCE_STORE_UNAVAILABLE', 'no answer before the deadline', { outcome })
  }

  private failure(code: ErrorCode, kind: FaultKind, what: string, outcome: Outcome): RelayError {
    this.journal.fault(kind, 'fences', what)
    return new RelayError(code, `${kind}: ${what}`, { outcome })
  }
}

export interface FenceWeather extends Weather {
  /** The service answers nobody. */
  fencesOut: boolean
}
