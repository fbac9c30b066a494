import { type Deadline, deadlineIn } from '../../clock.ts'
import { acquireFence, type FenceHandle } from '../../fencing/fence.ts'
import { isExpired } from '../../fencing/fence-rules.ts'
import { keepRenewed, type Renewal } from '../../fencing/renewal.ts'
import { seconds } from '../../units.ts'
import type { EngineSettings, RelayDeployment } from '../runtime.ts'
import type { Crew } from './share.ts'

export interface PresencePlace extends Pick<RelayDeployment, 'fences' | 'clock' | 'random'> {
  readonly relay: { readonly name: string }
  readonly settings: Pick<EngineSettings, 'prefix' | 'container' | 'leaseMs' | 'renewEveryMs'>
}

const leaveWithinMs = seconds(2)

/**
 * That this worker is there, as the others of its relay see it: a row of the fence table with a lease, like a lane's, and
 * no more than that. The rows are numbered and used again, so there are never more of them than workers at one time. What
 * it says is advice, for sharing lanes fairly: a lane's own fence decides who has it.
 */
export class Presence {
  readonly #deployment: PresencePlace
  readonly #fence: FenceHandle
  readonly #renewal: Renewal

  private constructor(deployment: PresencePlace, fence: FenceHandle) {
    this.#deployment = deployment
    this.#fence = fence
    this.#renewal = keepRenewed(fence, deployment.clock, deployment.settings.renewEveryMs)
  }

  /** Takes the first row that no living worker has. @throws RelayError the fence store's */
  static async take(deployment: PresencePlace, deadline: Deadline): Promise<Presence> {
    for (let row = 0; ; row++) {
      const acquired = await acquire(deployment, rowId(deployment, row), deadline)
      if (acquired.kind === 'acquired') return new Presence(deployment, acquired.handle)
    }
  }

  /** Another worker has taken the row: this one was silent for longer than its lease. */
  get isLost(): boolean {
    return this.#renewal.lost.aborted
  }

  /** @throws RelayError the fence store's */
  async crew(deadline: Deadline): Promise<Crew> {
    const { fences, clock } = this.#deployment
    const { records } = await fences.list(rowPrefix(this.#deployment), deadline)
    const others = records.filter((record) => record.owner !== null && !isExpired(record, clock.now()))
    const ids = new Set([...others.map(({ id }) => id), this.#fence.record.id])
    return { workers: ids.size, rank: [...ids].sort().indexOf(this.#fence.record.id) }
  }

  async leave(): Promise<void> {
    await this.#renewal.stop()
    await this.#fence.release({ kind: 'unopened' }, deadlineIn(this.#deployment.clock, leaveWithinMs))
  }
}

/** No lane's id has a slash, so no listing of lanes meets these rows. */
const rowPrefix = ({ relay, settings }: PresencePlace): string => `worker/${settings.prefix}.${relay.name}/`
const rowId = (deployment: PresencePlace, row: number): string =>
  `${rowPrefix(deployment)}${String(row).padStart(4, '0')}`

function acquire({ fences, clock, random, settings }: PresencePlace, id: string, deadline: Deadline) {
  const { container, leaseMs } = settings
  const request = {
    id,
    container,
    requestId: random.id(),
    generation: null,
    leaseMs,
    leaseMaxMs: leaseMs,
    mayPreempt: true,
    offsetsFound: false,
    held: null,
    acceptStopped: true,
  }
  return acquireFence(fences, clock, random, request, deadline)
}
