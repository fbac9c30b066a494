import { Dice } from './dice.ts'
import { type PromisePlan, promiseOf, suited } from './promises.ts'

/** All that one seed decides before anything runs: the shape of the world and how hostile each part of it is. */
export interface Plan {
  readonly seed: number
  /** Which generation of brokers: 2 as Kafka 4.x, 1 as 3.x. */
  readonly protocol: 1 | 2
  readonly nodes: 1 | 3
  readonly promise: PromisePlan
  readonly lanes: LanesPlan
  readonly timing: TimingPlan
  readonly source: SourcePlan
  readonly network: NetworkPlan
  readonly functions: FunctionsPlan
  readonly bells: BellsPlan
  readonly fences: FencesPlan
  readonly brokers: BrokersPlan
  /** How long bells ring and faults strike, virtual ms. */
  readonly workMs: number
  readonly provocation: Provocation
}

export interface LanesPlan {
  readonly sourcePartitions: number
  readonly partitionsPerLane: number
  readonly outputPartitions: number
  readonly windowRecords: number
}

export interface TimingPlan {
  readonly functionTimeoutMs: number
  readonly transactionTimeoutMs: number
  readonly commitReserveMs: number
  readonly leaseMs: number
  readonly renewEveryMs: number
}

export interface SourcePlan {
  /** Mean pause between two appends. */
  readonly everyMs: number
  readonly batchMax: number
  /** Shares of appends. */
  readonly transactional: number
  readonly aborted: number
  /** Its producer dies with the transaction open, which then times out. */
  readonly heldOpen: number
  /** Shares of records. */
  readonly rejected: number
  readonly poison: number
}

/** Probabilities are per request or answer. */
export interface NetworkPlan {
  readonly delayMsMax: number
  readonly slow: number
  readonly slowMsMax: number
  readonly cutBefore: number
  readonly cutAfter: number
  readonly loseRequest: number
  readonly loseAnswer: number
  readonly late: number
  readonly lateMsMax: number
}

/** `crash` and `pause` are per await; `critical` are those around the requests on which everything turns, once more. */
export interface FunctionsPlan {
  readonly crash: number
  readonly crashCritical: number
  readonly pause: number
  readonly pauseCritical: number
  readonly pauseMsMax: number
  readonly skewMsMax: number
  readonly cold: number
  readonly transformMsMax: number
  readonly slowTransform: number
  readonly slowTransformMsMax: number
  readonly answerLost: number
}

export interface BellsPlan {
  readonly batchMax: number
  readonly duplicate: number
  readonly overlap: number
  readonly miss: number
  readonly recompose: number
  readonly pullEveryMs: number
  readonly linger: number
  /** Of the pulls that are a sweep. */
  readonly sweep: number
}

/** Probabilities are per request. */
export interface FencesPlan {
  readonly delayMsMax: number
  readonly throttle: number
  readonly failBefore: number
  readonly failAfter: number
  readonly repeatLate: number
  /** 0: none. */
  readonly outageEveryMs: number
  readonly outageMsMax: number
}

export interface BrokersPlan {
  readonly markerMsMax: number
  readonly slowMarker: number
  readonly slowMarkerMsMax: number
  /** Mean pause between two strikes at a broker; 0: none. */
  readonly strikeEveryMs: number
}

/** What other hands do to the lane, at most one a run, and what it may end with. */
export type Provocation =
  | 'none'
  | 'epoch-exhausted'
  | 'idle-days'
  | 'table-restored'
  | 'table-lost'
  | 'older-deployment'
  | 'retention-passed'
  | 'topic-recreated'
  | 'offset-moved'

const provocations: readonly Exclude<Provocation, 'none'>[] = [
  'epoch-exhausted',
  'idle-days',
  'table-restored',
  'table-lost',
  'older-deployment',
  'retention-passed',
  'topic-recreated',
  'offset-moved',
]

export function planOf(seed: number): Plan {
  const dice = new Dice(seed).fork('plan')
  const partitionsPerLane = dice.pick([1, 1, 1, 2])
  return suited({
    seed,
    protocol: dice.pick([1, 2]),
    nodes: dice.pick([1, 3]),
    promise: promiseOf(dice.fork('promise')),
    lanes: {
      sourcePartitions: partitionsPerLane * dice.pick([1, 1, 2]),
      partitionsPerLane,
      outputPartitions: dice.between(1, 3),
      windowRecords: dice.pick([3, 10, 50]),
    },
    timing: timing(dice),
    source: source(dice),
    network: network(dice),
    functions: functions(dice),
    bells: bells(dice),
    fences: fences(dice),
    brokers: brokers(dice),
    workMs: dice.between(15_000, 40_000),
    provocation: dice.chance(0.4) ? dice.pick(provocations) : 'none',
  })
}

/** Most runs have some of the faults, and hard: all at once would leave nothing that goes right (swarm testing). */
const sometimes = (dice: Dice, least: number, most: number, share = 0.5): number =>
  dice.chance(share) ? dice.logarithmic(least, most) : 0

function timing(dice: Dice): TimingPlan {
  const functionTimeoutMs = dice.pick([6_000, 15_000, 30_000])
  return {
    functionTimeoutMs,
    transactionTimeoutMs: functionTimeoutMs + dice.pick([4_000, 15_000, 30_000]),
    commitReserveMs: dice.pick([300, 1_000]),
    leaseMs: dice.pick([2_000, 5_000]),
    renewEveryMs: dice.pick([700, 2_000]),
  }
}

function source(dice: Dice): SourcePlan {
  return {
    everyMs: dice.logarithmic(300, 2_500),
    batchMax: dice.between(1, 8),
    transactional: sometimes(dice, 0.1, 0.9),
    aborted: dice.fork('aborted').pick([0, 0.3, 0.6]),
    heldOpen: sometimes(dice, 0.02, 0.1, 0.3),
    rejected: sometimes(dice, 0.02, 0.2, 0.4),
    poison: sometimes(dice, 0.002, 0.02, 0.15),
  }
}

function network(dice: Dice): NetworkPlan {
  return {
    delayMsMax: dice.pick([0, 3, 20]),
    slow: sometimes(dice, 0.002, 0.05),
    slowMsMax: dice.pick([300, 3_000, 7_000]),
    cutBefore: sometimes(dice, 0.002, 0.04),
    cutAfter: sometimes(dice, 0.002, 0.06),
    loseRequest: sometimes(dice, 0.001, 0.02, 0.35),
    loseAnswer: sometimes(dice, 0.001, 0.02, 0.35),
    late: sometimes(dice, 0.002, 0.05),
    lateMsMax: dice.pick([50, 1_000, 20_000]),
  }
}

function functions(dice: Dice): FunctionsPlan {
  return {
    crash: sometimes(dice, 0.001, 0.02, 0.6),
    crashCritical: sometimes(dice, 0.005, 0.1, 0.4),
    pause: sometimes(dice, 0.001, 0.01),
    pauseCritical: sometimes(dice, 0.005, 0.1, 0.4),
    pauseMsMax: dice.pick([500, 8_000, 25_000]),
    skewMsMax: dice.pick([0, 0, 500, 6_000]),
    cold: dice.pick([0, 0.1, 0.5]),
    transformMsMax: dice.pick([0, 5, 100]),
    slowTransform: sometimes(dice, 0.01, 0.1, 0.3),
    slowTransformMsMax: dice.pick([2_000, 8_000]),
    answerLost: sometimes(dice, 0.02, 0.2, 0.3),
  }
}

function bells(dice: Dice): BellsPlan {
  return {
    batchMax: dice.between(1, 20),
    duplicate: sometimes(dice, 0.02, 0.3),
    overlap: sometimes(dice, 0.05, 0.5, 0.6),
    miss: sometimes(dice, 0.02, 0.3),
    recompose: sometimes(dice, 0.05, 0.5),
    pullEveryMs: dice.pick([800, 3_000, 10_000]),
    linger: dice.pick([0, 0, 0.5]),
    sweep: dice.pick([0, 0.3]),
  }
}

function fences(dice: Dice): FencesPlan {
  return {
    delayMsMax: dice.pick([0, 5, 30]),
    throttle: sometimes(dice, 0.01, 0.1, 0.35),
    failBefore: sometimes(dice, 0.005, 0.1, 0.35),
    failAfter: sometimes(dice, 0.005, 0.1, 0.35),
    repeatLate: sometimes(dice, 0.01, 0.2),
    outageEveryMs: sometimes(dice, 5_000, 20_000, 0.25),
    outageMsMax: dice.pick([500, 4_000, 12_000]),
  }
}

function brokers(dice: Dice): BrokersPlan {
  return {
    markerMsMax: dice.pick([0, 2, 20]),
    slowMarker: sometimes(dice, 0.005, 0.1),
    slowMarkerMsMax: dice.pick([200, 2_000]),
    strikeEveryMs: sometimes(dice, 1_000, 10_000),
  }
}
