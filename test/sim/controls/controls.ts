import type { Plan } from '../plan.ts'
import { type PromisePlan, strongest, suited } from '../promises.ts'
import type { Sabotage } from '../world.ts'
import { abortsAfterFence } from './aborts-after-fence.ts'
import { acksNotAwaited } from './acks-not-awaited.ts'
import { commitsLastRecord } from './commits-last-record.ts'
import { commitsPlainly } from './commits-plainly.ts'
import { hidesSilence } from './hides-silence.ts'
import { ignoresToken } from './ignores-token.ts'
import { newSequence } from './new-sequence.ts'
import { randomId } from './random-id.ts'
import { readsBeforeBarrier } from './reads-before-barrier.ts'
import { readsByName } from './reads-by-name.ts'
import { readsUnstable } from './reads-unstable.ts'
import { silenceIsFailure } from './silence-is-failure.ts'
import { silenceIsSuccess } from './silence-is-success.ts'
import { skipsStepNine } from './skips-step-nine.ts'
import { trustsHoles } from './trusts-holes.ts'

/** A relay with one rule of the protocol taken out. A harness that does not notice is blind. */
export interface Control {
  readonly name: string
  /** The rule that is broken. */
  readonly breaks: string
  readonly sabotage: Sabotage
  /** Left out: exactly once, from the log. */
  readonly promise?: PromisePlan
  /** Makes the weather denser in which the rule matters, or names the generation of brokers that needs it. */
  readonly focus?: (plan: Plan) => Plan
}

/** Copies that stay behind in the network and arrive in the next transaction. */
const lateCopies = (plan: Plan): Plan => ({
  ...plan,
  protocol: 1,
  network: { ...plan.network, late: 0.05, lateMsMax: 3_000 },
})

/** Answers that are lost when the brokers have acted. */
const lostAnswers = (plan: Plan): Plan => ({ ...plan, network: { ...plan.network, cutAfter: 0.08, loseAnswer: 0.02 } })

/** Owners that die between their commit and its markers. */
const slowMarkers = (plan: Plan): Plan => ({
  ...plan,
  functions: { ...plan.functions, crashCritical: 0.1 },
  brokers: { ...plan.brokers, slowMarker: 0.3, slowMarkerMsMax: 2_000 },
})

/** Coordinators that move without having heard of it. */
const movingCoordinators = (plan: Plan): Plan => ({
  ...plan,
  nodes: 3,
  brokers: { ...plan.brokers, strikeEveryMs: 1_200 },
  functions: { ...plan.functions, cold: 0.3 },
})

/** Owners that are overtaken in the middle of a window, by successors that die in their barrier. */
const brokenBarriers = (plan: Plan): Plan => ({
  ...plan,
  protocol: 2,
  nodes: 3,
  timing: { ...plan.timing, leaseMs: 2_000, functionTimeoutMs: 15_000, transactionTimeoutMs: 30_000 },
  functions: { ...plan.functions, crash: 0, pause: 0, pauseCritical: 0.04, pauseMsMax: 12_000, crashCritical: 0.06 },
  bells: { ...plan.bells, overlap: 0.6, pullEveryMs: 800 },
})

/** Owners that stand still in the middle of a window until others have gone on. */
const sleepers = (plan: Plan): Plan => ({
  ...plan,
  timing: { ...plan.timing, leaseMs: 2_000, functionTimeoutMs: 30_000, transactionTimeoutMs: 60_000 },
  functions: { ...plan.functions, pauseCritical: 0.04, pauseMsMax: 12_000 },
  bells: { ...plan.bells, overlap: 0.6, pullEveryMs: 800 },
})

export const controls: readonly Control[] = [
  {
    name: 'reads-before-barrier',
    breaks: 'R1: offset read before InitProducerId',
    sabotage: readsBeforeBarrier,
    focus: slowMarkers,
  },
  {
    name: 'reads-unstable',
    breaks: 'step 3: no require_stable',
    sabotage: readsUnstable,
    focus: (plan) => slowMarkers({ ...plan, protocol: 1 }),
  },
  { name: 'random-id', breaks: 'R4: a transactional id of its own for each session', sabotage: randomId },
  {
    name: 'new-sequence',
    breaks: 'R2: an ambiguous Produce is sent again on a new sequence',
    sabotage: newSequence,
    focus: lostAnswers,
  },
  {
    name: 'silence-is-success',
    breaks: 'R3, R5: the session goes on after an unknown EndTxn',
    sabotage: silenceIsSuccess,
    focus: lostAnswers,
  },
  { name: 'commits-last-record', breaks: 'R9: last record + 1 is committed', sabotage: commitsLastRecord },
  { name: 'ignores-token', breaks: 'R6, R7: nobody ever loses a fence', sabotage: ignoresToken },
  {
    name: 'silence-is-failure',
    breaks: 'R3: an unanswered EndTxn counts as not committed',
    sabotage: silenceIsFailure,
    focus: lostAnswers,
  },
  { name: 'skips-step-nine', breaks: 'R1, P1: step 9 is left out', sabotage: skipsStepNine, focus: movingCoordinators },
  {
    name: 'aborts-after-fence',
    breaks: 'R2, P4: aborts when fenced, and goes on',
    sabotage: abortsAfterFence,
    focus: brokenBarriers,
  },
  {
    name: 'hides-silence',
    breaks: 'R5, P3: a session goes on after an unanswered transmission',
    sabotage: hidesSilence,
    focus: lateCopies,
  },
  {
    name: 'reads-by-name',
    breaks: 'R9, P10: reads by topic name',
    sabotage: readsByName,
    focus: (plan) => ({ ...plan, provocation: 'topic-recreated' }),
  },
  {
    name: 'acks-not-awaited',
    breaks: 'at-least-once: the offsets move before the outputs are acknowledged',
    sabotage: acksNotAwaited,
    promise: { guarantee: 'at-least-once', read: 'log' },
    focus: lostAnswers,
  },
  {
    name: 'commits-plainly',
    breaks: "none: offsets are committed outside of the lane's transaction",
    sabotage: commitsPlainly,
    promise: { guarantee: 'none', read: 'log' },
    focus: sleepers,
  },
  {
    name: 'trusts-holes',
    breaks: "read: 'event': an event is taken for all that there is up to its last record",
    sabotage: trustsHoles,
    promise: { guarantee: 'at-least-once', read: 'event' },
    focus: (plan) => ({ ...plan, bells: { ...plan.bells, miss: 0.3 } }),
  },
]

/** What a control runs in: its promise, and the weather in which its rule matters. */
export const planFor = ({ focus = (plan) => plan, promise = strongest }: Control, plan: Plan): Plan =>
  suited(focus({ ...plan, promise }))
