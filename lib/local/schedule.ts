import { type Clock, systemClock } from '../clock.ts'

export interface ScheduleOptions {
  readonly everyMs: number
  /** Default 0: the first turn comes at once. */
  readonly firstAfterMs?: number
  /** Its result and its failures are its own business: the schedule goes on. */
  readonly invoke: () => Promise<unknown>
  /** Default false: a turn that comes while the last invocation runs is skipped, as one poll more would find nothing. */
  readonly overlap?: boolean
  readonly clock?: Clock
}

export interface Schedule {
  /** Turns taken, and turns skipped because an invocation still ran. */
  stats(): { readonly invoked: number; readonly skipped: number }
  /** No further turns; running invocations are waited for. */
  stop(): Promise<void>
}

/** What a schedule rule does for a pull or sweep function: an invocation every `everyMs`. */
export function startSchedule(options: ScheduleOptions): Schedule {
  const clock = options.clock ?? systemClock
  const stopped = new AbortController()
  const running = new Set<Promise<unknown>>()
  let invoked = 0
  let skipped = 0

  function turn(): void {
    if (running.size > 0 && !options.overlap) {
      skipped++
      return
    }
    invoked++
    const invocation = options.invoke().catch(() => undefined)
    running.add(invocation)
    invocation.finally(() => running.delete(invocation))
  }

  async function run(): Promise<void> {
    for (let dueMs = clock.now() + (options.firstAfterMs ?? 0); !stopped.signal.aborted; dueMs += options.everyMs) {
      await clock.sleep(Math.max(0, dueMs - clock.now()), stopped.signal).catch(() => undefined)
      if (!stopped.signal.aborted) turn()
    }
  }

  const done = run()
  return {
    stats: () => ({ invoked, skipped }),
    async stop() {
      stopped.abort()
      await done
      await Promise.all(running)
    },
  }
}
