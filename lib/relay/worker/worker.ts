import { type Deadline, deadlineIn } from '../../clock.ts'
import { isRelayError, RelayError } from '../../errors.ts'
import { seconds } from '../../units.ts'
import { attendLane, type LaneEnd } from '../attend-lane.ts'
import { isOutranked, type LaneId } from '../lane-id.ts'
import { type Look, look } from '../look.ts'
import { lanesAt, type RelayTopics, relayTopics } from '../relay-topics.ts'
import type { RelayRuntime } from '../runtime.ts'
import { sweepRelay } from '../sweep.ts'
import { hasFailed, pauseAfter } from './patience.ts'
import { Presence } from './presence.ts'
import { type Crew, fairShare } from './share.ts'

export interface WorkerOptions {
  /** How long a lane is kept before it is offered to the others. Twice that must be below the transaction timeout. */
  readonly shiftMs: number
  /** How long windows under way may take once the worker was asked to end. */
  readonly drainMs: number
  readonly sweepEveryMs: number
  /** Kafka or the fence table could not be asked; the worker goes on trying. */
  onTrouble(error: RelayError): void
}

export interface WorkerState {
  /** Transactional ids. */
  readonly lanes: readonly string[]
  readonly crew: Crew | null
  /** When it last knew where the log and its lanes stand; null: never yet. */
  readonly lookedAtMs: number | null
  readonly stopping: boolean
}

export type WorkerRuntime = RelayRuntime & Required<Pick<RelayRuntime, 'stopping'>>

const turnEveryMsMax = seconds(0.5)
const turnWithinMs = seconds(10)
const troublePauseMsMax = seconds(15)
/** A deployment that stands down to another one may have its turn again: after a rollback, or in 15 minutes (R14). */
const outrankedMs = seconds(30)
const forAll = { kind: 'pull', lingerUntilMs: null } as const

/**
 * A relay as a process that is always there, for loads at which functions cost more. It looks where there are records,
 * takes lanes up to its share and tails them (R13). Several workers of a relay share the lanes without talking to each
 * other: each sees in the fence table how many are alive, keeps a lane for one shift at a time, and leaves it when it has
 * more than its share. The fence decides who has a lane; a worker that died is followed when its leases have ended.
 */
export class Worker {
  readonly #runtime: WorkerRuntime
  readonly #options: WorkerOptions
  readonly #held = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  readonly #restUntilMs = new Map<string, number>()
  #presence: Presence | null = null
  #crew: { readonly is: Crew; readonly atMs: number } | null = null
  #lookedAtMs: number | null = null
  #outrankedUntilMs = 0
  #sweep: { readonly done: Promise<void>; readonly atMs: number } | null = null

  constructor(runtime: WorkerRuntime, options: WorkerOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  get state(): WorkerState {
    const { stopping } = this.#runtime
    const crew = this.#crew?.is ?? null
    return { lanes: [...this.#held.keys()], crew, lookedAtMs: this.#lookedAtMs, stopping: stopping.aborted }
  }

  /**
   * Works until `stopping`, then finishes the windows that are under way and releases its lanes.
   * @returns whether all of that was done within `drainMs`; otherwise the others wait for its leases to end
   * @throws RelayError when its very first look finds something that somebody has to mend: a topic, a right, a setting
   */
  async run(): Promise<boolean> {
    const { clock, random, stopping, relay } = this.#runtime
    for (let troubles = 0; !stopping.aborted; ) {
      troubles = await this.#turn().then(
        () => 0,
        (error) => this.#bear(error, troubles),
      )
      const everyMs = Math.min(relay.commitEveryMs, turnEveryMsMax) * 2 ** troubles
      await clock
        .sleep(Math.min(everyMs, troublePauseMsMax) * (0.5 + random.fraction()), stopping)
        .catch(() => undefined)
    }
    return this.#drain()
  }

  #bear(error: unknown, troubles: number): number {
    if (!isRelayError(error)) throw error
    if (this.#lookedAtMs === null && error.disposition === 'fix-config') throw error
    this.#options.onTrouble(error)
    return Math.min(troubles + 1, 10)
  }

  async #turn(): Promise<void> {
    const { clock } = this.#runtime
    if (clock.now() < this.#outrankedUntilMs) return this.#leaveCrew()
    const deadline = deadlineIn(clock, turnWithinMs)
    const topics = await relayTopics(this.#runtime, deadline)
    const lanes = lanesAt(this.#runtime, topics)
    const crew = await this.#crewNow(deadline)
    this.#lookedAtMs = clock.now()
    const free = lanes.filter(({ transactionalId }) => this.#isFree(transactionalId))
    let room = fairShare(lanes.length, crew) - this.#held.size
    if (room > 0 && free.length > 0) {
      const seen = await look(this.#runtime, topics, free, forAll, deadline)
      for (const [id, what] of seen) if (!what.past && room-- > 0) this.#attend(topics, id, what)
    }
    if (crew.rank === 0) this.#sweepWhenDue()
  }

  /** Whoever must not take lanes must not be counted among those that share them: its share would lie idle. */
  async #leaveCrew(): Promise<void> {
    const presence = this.#presence
    this.#presence = this.#crew = null
    await presence?.leave()
  }

  #isFree(lane: string): boolean {
    return !this.#held.has(lane) && (this.#restUntilMs.get(lane) ?? 0) <= this.#runtime.clock.now()
  }

  /** As of the last lease length: a worker that joins or dies is noticed about that late. */
  async #crewNow(deadline: Deadline): Promise<Crew> {
    const { clock, settings } = this.#runtime
    if (this.#presence?.isLost) this.#presence = null
    this.#presence ??= await Presence.take(this.#runtime, deadline)
    if (this.#crew === null || clock.now() - this.#crew.atMs >= settings.leaseMs) {
      this.#crew = { is: await this.#presence.crew(deadline), atMs: clock.now() }
    }
    return this.#crew.is
  }

  #attend(topics: RelayTopics, id: LaneId, seen: Look): void {
    const { clock, random } = this.#runtime
    const { shiftMs } = this.#options
    const bell = { kind: 'pull', lingerUntilMs: clock.now() + shiftMs } as const
    const deadline = deadlineIn(clock, 2 * shiftMs)
    const attendance = { runtime: this.#runtime, topics, bell, requestId: random.id(), deadline }
    const shift = attendLane(attendance, id, seen).then((end) => this.#note(end))
    this.#held.set(id.transactionalId, shift)
  }

  #note(end: LaneEnd): void {
    const { clock, random } = this.#runtime
    const lane = end.id.transactionalId
    if (end.kind === 'failed' && isOutranked(end.error)) this.#outrankedUntilMs = clock.now() + outrankedMs
    const failures = hasFailed(end) ? (this.#failures.get(lane) ?? 0) + 1 : 0
    this.#failures.set(lane, failures)
    const rested = clock.now() + pauseAfter(end, failures, random)
    this.#restUntilMs.set(lane, Math.max(rested, end.kind === 'done' ? this.#nextCommitMs(lane) : 0))
    this.#held.delete(lane)
  }

  /** A lane that has caught up waits for its next window as it would have done within its shift (R13). */
  #nextCommitMs(lane: string): number {
    const { warm, relay } = this.#runtime
    const committedAtMs = warm.get(lane)?.held.record.committedAtMs ?? null
    return committedAtMs === null ? 0 : committedAtMs + relay.commitEveryMs
  }

  /** One of the crew does what the sweep function does in a deployment of functions. */
  #sweepWhenDue(): void {
    const { clock, random } = this.#runtime
    if (this.#sweep && clock.now() - this.#sweep.atMs < this.#options.sweepEveryMs) return
    const deadline = deadlineIn(clock, this.#options.shiftMs)
    const done = sweepRelay(this.#runtime, random.id(), deadline).then(
      () => undefined,
      (error) => this.#options.onTrouble(isRelayError(error) ? error : broken(error)),
    )
    this.#sweep = { done, atMs: clock.now() }
  }

  async #drain(): Promise<boolean> {
    const { clock } = this.#runtime
    const over = new AbortController()
    const work = Promise.all([...this.#held.values(), this.#sweep?.done]).then(() => true)
    const late = clock.sleep(this.#options.drainMs, over.signal).then(
      () => false,
      () => false,
    )
    const isDrained = await Promise.race([work, late])
    over.abort()
    await this.#presence?.leave()
    return isDrained
  }
}

const broken = (cause: unknown): RelayError =>
  new RelayError('INVARIANT_BROKEN', `the sweep ended with ${String(cause)}`, { cause })
