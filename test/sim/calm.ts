import { type Plan, planOf } from './plan.ts'
import { strongest } from './promises.ts'

/** A plan without any fault: what stands out against it is a test's own doing. */
export function calmPlan(seed: number, over: Partial<Plan> = {}): Plan {
  const rough = planOf(seed)
  return {
    ...rough,
    protocol: 2,
    nodes: 3,
    promise: strongest,
    lanes: { sourcePartitions: 1, partitionsPerLane: 1, outputPartitions: 2, windowRecords: 10 },
    timing: {
      functionTimeoutMs: 30_000,
      transactionTimeoutMs: 60_000,
      commitReserveMs: 500,
      leaseMs: 5_000,
      renewEveryMs: 2_000,
    },
    source: { everyMs: 500, batchMax: 4, transactional: 0, aborted: 0, heldOpen: 0, rejected: 0, poison: 0 },
    network: { ...zeros(rough.network), delayMsMax: 2 },
    functions: { ...zeros(rough.functions), pauseMsMax: 1, slowTransformMsMax: 1 },
    bells: { ...zeros(rough.bells), batchMax: 10, pullEveryMs: 5_000 },
    fences: zeros(rough.fences),
    brokers: { ...zeros(rough.brokers), markerMsMax: 1 },
    workMs: 10_000,
    provocation: 'none',
    ...over,
  }
}

const zeros = <T extends object>(rates: T): T =>
  Object.fromEntries(Object.keys(rates).map((name) => [name, 0])) as unknown as T
