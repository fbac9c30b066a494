import { type Clock, deadlineIn, type Random } from '../../clock.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { LaneId } from '../../relay/lane-id.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'
import { laneHolders } from '../lane-holders.ts'
import { WorkingContainers } from '../working-containers.ts'
import { pause } from './fault.ts'

export interface FunctionsParts {
  readonly host: LambdaHost
  readonly fences: FenceStore
  readonly lanes: readonly LaneId[]
  readonly clock: Clock
  readonly random: Random
}

const readTimeoutMs = 2_000

/** The relay's functions as faults see them: who works on which lane, and how each invocation ends. */
export class FunctionsAtWork {
  readonly host: LambdaHost
  readonly clock: Clock
  readonly #its: FunctionsParts
  readonly #working: WorkingContainers
  readonly #awaited = new Map<string, PromiseWithResolvers<InvokeResult>>()

  constructor(parts: FunctionsParts) {
    this.#its = parts
    this.host = parts.host
    this.clock = parts.clock
    const holders = () => laneHolders(parts.fences, parts.lanes).catch(() => [])
    this.#working = new WorkingContainers({ ...parts, holders })
  }

  /** A container in the middle of its work on a lane; null when aborted first. */
  victim(signal: AbortSignal): Promise<string | null> {
    return this.#working.find(signal)
  }

  /** Hears how each invocation ended. */
  note(result: InvokeResult): void {
    if (!('containerId' in result)) return
    this.#awaited.get(result.containerId)?.resolve(result)
    this.#awaited.delete(result.containerId)
  }

  /** How the invocation that this container works on ends; null when it had ended before we looked. */
  async endOf(container: string, withinMs: number): Promise<InvokeResult | null> {
    const end = this.#awaited.get(container) ?? Promise.withResolvers<InvokeResult>()
    this.#awaited.set(container, end)
    const heard = new AbortController()
    const silence = pause(this.clock, withinMs, heard.signal).then(() => null)
    const result = await Promise.race([end.promise, silence])
    heard.abort()
    this.#awaited.delete(container)
    return result
  }

  /** Token of each lane, with the container that holds it; empty while the table cannot be read. */
  async lanes(): Promise<ReadonlyMap<string, { readonly token: number; readonly container: string | null }>> {
    const { fences, lanes, clock } = this.#its
    const deadline = deadlineIn(clock, readTimeoutMs)
    const read = async ({ transactionalId }: LaneId) => {
      const record = await fences.read(transactionalId, deadline)
      return [transactionalId, { token: record?.token ?? 0, container: record?.owner?.container ?? null }] as const
    }
    return new Map(await Promise.all(lanes.map(read)).catch(() => []))
  }
}

/** Containers have long ids; the beginning tells them apart. */
export const shortId = (container: string): string => container.slice(0, 8)
