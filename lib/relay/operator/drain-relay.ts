import { deadlineIn } from '../../clock.ts'
import type { RelayError } from '../../errors.ts'
import type { LaneEnd } from '../attend-lane.ts'
import { runInvocation } from '../invocation.ts'
import type { RelayRuntime } from '../runtime.ts'

export interface DrainedLane {
  readonly lane: string
  /** `waiting`: another owner holds it, or this process was asked to end. */
  readonly state: 'drained' | 'stopped' | 'failed' | 'waiting'
  /** Committed by this process. */
  readonly windows: number
  /** Why it is stopped, failed or waited for. */
  readonly code?: string
  readonly message?: string
}

export interface DrainReport {
  /** Every lane came to the end of the log, as it was when this began or later. */
  readonly ok: boolean
  readonly lanes: readonly DrainedLane[]
}

const pull = { kind: 'pull', lingerUntilMs: null } as const
const pauseMs = 500
/** In a row, without a window between them. */
const failuresMax = 5

/**
 * Relays until every lane has come to the end of the log once, or cannot go on without an operator. Lanes with a living
 * owner are left to it and waited for. `runtime.stopping` ends it in order, between two windows.
 * @param sliceMs of one invocation, after which lanes are released and taken again; below the transaction timeout
 * @throws RelayError when nothing can be done for any lane: TOPIC_MISSING, BROKER_UNAVAILABLE ...
 */
export async function drainRelay(runtime: RelayRuntime, sliceMs: number): Promise<DrainReport> {
  const { clock, random, stopping } = runtime
  const drain = new Drain()
  for (;;) {
    const { lanes } = await runInvocation(runtime, pull, random.id(), deadlineIn(clock, sliceMs))
    for (const end of lanes) drain.note(end)
    if (drain.isOver || stopping?.aborted) return drain.report()
    await clock.sleep(pauseMs, stopping).catch(() => undefined)
  }
}

class Drain {
  readonly #lanes = new Map<string, DrainedLane>()
  readonly #failures = new Map<string, number>()

  get isOver(): boolean {
    return [...this.#lanes.values()].every(({ state }) => state !== 'waiting')
  }

  note(end: LaneEnd): void {
    const lane = end.id.transactionalId
    const before = this.#lanes.get(lane)
    const windows = (before?.windows ?? 0) + ('windows' in end ? end.windows : 0)
    const isOver = before !== undefined && before.state !== 'waiting'
    this.#lanes.set(lane, isOver ? { ...before, windows } : { lane, windows, ...this.#outcome(end) })
  }

  report(): DrainReport {
    const lanes = [...this.#lanes.values()]
    return { ok: lanes.every(({ state }) => state === 'drained'), lanes }
  }

  #outcome(end: LaneEnd): Omit<DrainedLane, 'lane' | 'windows'> {
    if (end.kind === 'done') return { state: 'drained' }
    if (end.kind === 'stopped') return { state: 'stopped', code: end.code, message: end.message }
    if (end.kind === 'left') return { state: 'waiting', code: 'LANE_LEASED', message: 'another owner works on it' }
    const { error, windows } = end
    const state = this.#mayPassLater(end.id.transactionalId, error, windows) ? 'waiting' : 'failed'
    return { state, code: error.code, message: error.message }
  }

  #mayPassLater(lane: string, { code, disposition }: RelayError, windows: number): boolean {
    if (disposition === 'fix-config' || disposition === 'bug') return false
    const isProgress = windows > 0 || code === 'OUT_OF_TIME'
    const failures = isProgress ? 0 : (this.#failures.get(lane) ?? 0) + 1
    this.#failures.set(lane, failures)
    return failures < failuresMax
  }
}
