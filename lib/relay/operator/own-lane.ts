import type { Deadline } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { type AcquireResult, acquireFence, type Ending, type FenceHandle } from '../../fencing/fence.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import { keepRenewed } from '../../fencing/renewal.ts'
import { type LaneId, superseded } from '../lane-id.ts'
import type { RelayDeployment } from '../runtime.ts'

/** An operator's hold of a lane. */
export interface OwnedLane {
  readonly fence: FenceHandle
  /** The record as it was found; null: the acquire made it. */
  readonly found: FenceRecord | null
}

/**
 * Does something as the owner of a lane, of a stopped one too, and releases it however that ends. A living owner is never
 * taken for dead: neither by an operator.
 * @throws RelayError LANE_LEASED while another owner's lease lives, FENCE_SUPERSEDED, the store's, and what `work` throws
 */
export async function ownLane(
  deployment: RelayDeployment,
  id: LaneId,
  deadline: Deadline,
  work: (lane: OwnedLane) => Promise<Ending>,
): Promise<void> {
  const { clock, settings } = deployment
  const acquired = await acquire(deployment, id, deadline)
  if (acquired.kind !== 'acquired') throw refusal(deployment, id, acquired)
  const { handle: fence, found } = acquired
  const renewal = keepRenewed(fence, clock, settings.renewEveryMs)
  const done = work({ fence, found })
  const ending = await done.catch((): Ending => ({ kind: 'unknown' }))
  await renewal.stop()
  await fence.release(ending, deadline)
  await done
}

function acquire(deployment: RelayDeployment, id: LaneId, deadline: Deadline): Promise<AcquireResult> {
  const { settings, fences, clock, random } = deployment
  const request = {
    id: id.transactionalId,
    container: settings.container,
    requestId: random.id(),
    generation: null,
    leaseMs: settings.leaseMs,
    leaseMaxMs: settings.leaseMs,
    mayPreempt: true,
    offsetsFound: false,
    held: null,
    acceptStopped: true,
  }
  return acquireFence(fences, clock, random, request, deadline)
}

type Refused = Exclude<AcquireResult, { readonly kind: 'acquired' }>

function refusal({ clock }: RelayDeployment, id: LaneId, { kind, record }: Refused): RelayError {
  if (kind !== 'leased') return superseded(id)
  const { container, requestId } = record.owner ?? { container: 'another owner', requestId: 'unknown' }
  const leftMs = record.leaseUntilMs - clock.now()
  const message = `lane ${id.transactionalId} is held by ${container} (request ${requestId}), whose lease lives for another ${leftMs} ms: wait until it is done, or disable the trigger of its function`
  return new RelayError('LANE_LEASED', message, { context: { lane: id.transactionalId, container, requestId } })
}
