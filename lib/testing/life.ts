import type { Clock } from '../clock.ts'
import type { FenceStore } from '../fencing/fence-store.ts'
import type { Transport } from '../kafka/transport.ts'

const never = (): Promise<never> => new Promise(() => {})

/**
 * The life of a process in a test. Its code cannot be stopped, but once it is dead nothing that it does reaches anybody
 * and nothing that it waits for comes: to the rest of the world it is gone.
 */
export class Life {
  private readonly end = Promise.withResolvers<void>()
  private dead = false

  get isDead(): boolean {
    return this.dead
  }

  /** Resolves when it dies. */
  get ended(): Promise<void> {
    return this.end.promise
  }

  die(): void {
    this.dead = true
    this.end.resolve()
  }

  /** Work that is not begun after death and whose outcome is not heard of after death. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return never()
    try {
      const result = await work()
      return this.dead ? await never() : result
    } catch (error) {
      if (this.dead) return never()
      throw error
    }
  }

  clock(clock: Clock): Clock {
    return { now: () => clock.now(), sleep: (ms, signal) => this.guard(() => clock.sleep(ms, signal)) }
  }

  transport(transport: Transport): Transport {
    return {
      bootstrap: transport.bootstrap,
      send: (request) => this.guard(() => transport.send(request)),
      capabilities: (node, deadline) => this.guard(() => transport.capabilities(node, deadline)),
      close: () => transport.close(),
    }
  }

  fences(store: FenceStore): FenceStore {
    return {
      read: (...args) => this.guard(() => store.read(...args)),
      write: (...args) => this.guard(() => store.write(...args)),
      rememberFirst: (...args) => this.guard(() => store.rememberFirst(...args)),
      list: (...args) => this.guard(() => store.list(...args)),
      close: () => store.close(),
    }
  }
}
