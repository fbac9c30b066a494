import { type Deadline, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { tpKey } from '../kafka/record.ts'
import type { LaneId } from '../relay/lane-id.ts'
import { seconds } from '../units.ts'
import { expectIds } from './expect-ids.ts'
import { expectTransformed } from './expect-transformed.ts'
import type { History, OpenTransaction } from './history.ts'
import { contentIdentity, type Identity, idIdentity } from './identity.ts'
import type { VerifyOptions } from './options.ts'
import { committedPositions, offsetsAt, untilStable } from './positions.ts'
import { Progress } from './progress.ts'
import { readAhead } from './read-ahead.ts'
import { type FenceRecords, fenceRecords, laneStates, pinnedCounts, rememberedPositions } from './read-fences.ts'
import type { DeadLetterOrigin } from './read-output.ts'
import { readOutputs } from './read-outputs.ts'
import type { Expecting } from './read-source.ts'
import { readSources } from './read-sources.ts'
import { describeTransactions, type KnownTransaction, stillOpen } from './read-transactions.ts'
import { askDeadline, type Scope, scopeOf } from './scope.ts'

const settleDefaultMs = seconds(30)
const pauseMs = 200

export interface HistoryRead {
  readonly history: History
  /** The same history, with what the source beyond the committed offsets would give. */
  lookAhead(): Promise<History>
}

/**
 * Reads everything that is judged, in an order that makes it true beside a relay at work:
 *
 * 1. the committed offsets: the outputs of all records below them have been written by now,
 * 2. the ends of the outputs; wait until readers can see up to there,
 * 3. the outputs up to those ends,
 * 4. the committed offsets again: whatever was visible in 3 comes from records below them,
 * 5. the source, now that the dead letters among the outputs are known.
 *
 * So what is relayed meanwhile can neither be missed nor be held against the relay.
 */
export async function readHistory(options: VerifyOptions): Promise<HistoryRead> {
  const { relay, cluster, id } = options
  const { clock } = cluster
  const sinceMs = options.lastMs === undefined ? null : clock.now() - options.lastMs
  const identity = id ? idIdentity(id) : contentIdentity(relay.name, relay.deadLetters)
  const progress = new Progress(clock, options.onProgress ?? (() => undefined))
  const settled = deadlineIn(clock, options.settleMs ?? settleDefaultMs)
  const scope = await scopeOf(options)
  const transactionsBefore = await knownTransactions(options, scope)

  const committed = await committedPositions(cluster, scope.group, scope.sources, settled) //       1
  const ends = await offsetsAt(cluster, scope.outputs, 'latest') //                                 2
  const stable = await untilStable(cluster, scope.outputs, ends, settled)
  progress.begin('outputs')
  const outputsAsk = { scope, deadLetters: relay.deadLetters, ends, stable, sinceMs, identity }
  const outputs = await readOutputs(cluster, outputsAsk, progress) //                               3
  const fencesReadAtMs = clock.now()
  const fences = await fenceRecords(options, scope) // before 4: what they remember must be committed by then
  const settledAgain = deadlineIn(clock, options.settleMs ?? settleDefaultMs)
  const committedAfter = await committedPositions(cluster, scope.group, scope.sources, settledAgain) // 4
  const { open, transactions } = await untilEnded(options, scope, transactionsBefore, settled)
  const ourLetters = outputs.deadLetters.filter((origin) => origin.relay === relay.name)
  const expecting = await expectingOf(options, scope, identity, sinceMs, fences, ourLetters)
  progress.begin('source')
  const remembered = rememberedPositions(scope, fences)
  const sourcesAsk = { scope, startAt: relay.startAt, sinceMs, committed, committedAfter, remembered }
  const sources = await readSources(cluster, sourcesAsk, expecting, progress) //                    5
  const history: History = {
    relay: relay.name,
    guarantee: relay.guarantee,
    by: id ? 'ids' : 'transform',
    clusterId: scope.clusterId,
    fencesReadAtMs,
    lanes: laneStates(scope, transactions, fences),
    sources,
    outputs: outputs.logs,
    expected: expecting.expected,
    deadLetters: {
      found: ourLetters.filter(({ timestampMs }) => sinceMs === null || timestampMs >= sinceMs).length,
      notReproduced: expecting.notReproduced,
    },
    openTransactions: open,
  }
  return {
    history,
    async lookAhead() {
      await readAhead(cluster, history, expecting, progress)
      return { ...history, expected: expecting.expected }
    },
  }
}

const ids = (lanes: readonly LaneId[]): string[] => lanes.map(({ transactionalId }) => transactionalId)

const knownTransactions = ({ cluster }: VerifyOptions, { lanes, group }: Scope): Promise<readonly KnownTransaction[]> =>
  describeTransactions(cluster, ids(lanes), `${group}.`, askDeadline(cluster.clock))

/** A transaction that is under way ends within the time given; one that does not was left open. */
async function untilEnded(
  options: VerifyOptions,
  scope: Scope,
  before: readonly KnownTransaction[],
  settled: Deadline,
): Promise<{ open: readonly OpenTransaction[]; transactions: readonly KnownTransaction[] }> {
  for (;;) {
    const transactions = await knownTransactions(options, scope)
    const open = stillOpen(before, transactions)
    if (open.length === 0 || settled.remainingMs() <= pauseMs) return { open, transactions }
    await options.cluster.clock.sleep(pauseMs)
  }
}

async function expectingOf(
  { relay, cluster, secret = noSecrets, registry = null, id }: VerifyOptions,
  scope: Scope,
  identity: Identity,
  sinceMs: number | null,
  fences: FenceRecords,
  deadLetters: readonly DeadLetterOrigin[],
): Promise<Expecting> {
  if (id) return expectIds(identity, sinceMs)
  const { clock } = cluster
  const counts = pinnedCounts(scope, fences)
  return expectTransformed({
    running: await relay.start({ secret, registry, deadline: askDeadline(clock), clock }),
    clock,
    identity,
    outputs: new Map(scope.outputs.map((place, index) => [tpKey(place), index])),
    partitionCounts: (source) => counts[source] ?? scope.partitionCounts,
    sinceMs,
    deadLetters,
  })
}

async function noSecrets(name: string): Promise<never> {
  throw new RelayError('CONFIG_INVALID', `the relay's setup asks for the secret '${name}', and the verifier has none`)
}
