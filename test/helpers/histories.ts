import { Fingerprint } from '../../lib/verify/fingerprint.ts'
import type {
  DeliveredRecords,
  ExpectedRecords,
  FenceState,
  History,
  LogTransaction,
  OutputLog,
  SourceLog,
} from '../../lib/verify/history.ts'
import { standing } from '../../lib/verify/history.ts'
import { type Check, checks } from '../../lib/verify/judge.ts'
import { matchRecords } from '../../lib/verify/match.ts'

/** A record is its content, a word; at which output partition it belongs, if not at 0. */
export type Given = string | readonly [content: string, output: number]
/** In which of the partition's transactions it stands, if not in 0; -1: in none. */
export type Shown = string | readonly [content: string, transaction: number]

export interface SourceMade extends Partial<SourceLog> {
  /** One output for each record, at offsets 0, 1, 2 ... Everything is committed unless `committed` says less. */
  readonly gives: readonly Given[]
}

export interface OutputMade extends Partial<OutputLog> {
  readonly shows: readonly Shown[]
}

export interface HistoryMade extends Partial<Omit<History, 'sources' | 'outputs' | 'expected'>> {
  readonly sources: readonly SourceMade[]
  readonly outputs: readonly OutputMade[]
}

export const laneId = (partition: number): string => `p.copy.in.${partition}`
export const producerOf = (partition: number): bigint => BigInt(100 + partition)

/** A history made by hand, in which everything that is not said is as it should be. */
export function history({ sources, outputs, ...rest }: HistoryMade): History {
  return {
    relay: 'copy',
    guarantee: 'exactly-once',
    by: 'transform',
    clusterId: 'cluster',
    fencesReadAtMs: 1_000_000,
    lanes: sources.map((_, partition) => ({
      transactionalId: laneId(partition),
      producerId: producerOf(partition),
      fence: fence(),
    })),
    deadLetters: { found: 0, notReproduced: 0 },
    openTransactions: [],
    ...rest,
    sources: sources.map(sourceLog),
    outputs: outputs.map(outputLog),
    expected: expectedOf(sources),
  }
}

export const fence = (over: Partial<FenceState> = {}): FenceState => ({
  lineage: 'lineage',
  token: 1,
  dirty: false,
  owner: null,
  leaseUntilMs: 0,
  stopped: null,
  committedUntil: new Map(),
  resetTo: null,
  ...over,
})

export const transaction = (over: Partial<LogTransaction> = {}): LogTransaction => ({
  producerId: producerOf(0),
  producerEpoch: 0,
  firstOffset: 0n,
  markerOffset: 1_000n,
  fate: 'committed',
  visible: 0,
  hidden: 0,
  ...over,
})

function sourceLog({ gives, ...over }: SourceMade, partition: number): SourceLog {
  const end = BigInt(gives.length)
  const committed = over.committed === undefined ? end : over.committed
  const committedAfter = over.committedAfter === undefined ? committed : over.committedAfter
  const transactionalId = laneId(partition)
  return {
    topic: 'in',
    partition,
    topicId: 'topic',
    transactionalId,
    logStart: 0n,
    stableEnd: end,
    end,
    from: 0n,
    before: 'start',
    removed: 0n,
    metadata: metadata(transactionalId),
    relayedUntil: committedAfter ?? 0n,
    records: Number(committed ?? 0),
    transactions: [],
    ...over,
    committed,
    committedAfter,
  }
}

export const metadata = (id: string) => ({
  lineage: 'lineage',
  id,
  topicId: 'topic',
  clusterId: 'cluster',
  token: 1,
  from: 0n,
})

function outputLog({ shows, ...over }: OutputMade, partition: number): OutputLog {
  const end = BigInt(shows.length)
  return {
    topic: 'out',
    partition,
    logStart: 0n,
    from: 0n,
    until: end,
    end,
    removed: 0n,
    isDatedAnew: false,
    transactions: [transaction({ visible: shows.length })],
    heldBy: [],
    ...over,
    delivered: deliveredOf(shows),
  }
}

const print = (content: string) => new Fingerprint().ofText(0, content)
const contentOf = (one: Given | Shown): string => (typeof one === 'string' ? one : one[0])
const numberOf = (one: Given | Shown): number => (typeof one === 'string' ? 0 : one[1])

function deliveredOf(shows: readonly Shown[]): DeliveredRecords {
  const prints = shows.map((one) => print(contentOf(one)))
  return {
    high: Int32Array.from(prints, ({ high }) => high),
    low: Int32Array.from(prints, ({ low }) => low),
    offset: Float64Array.from(shows, (_, at) => at),
    transaction: Int32Array.from(shows, numberOf),
  }
}

function expectedOf(sources: readonly SourceMade[]): ExpectedRecords {
  const rows = sources.flatMap((made, source) =>
    made.gives.map((one, offset) => ({ one, source, offset, standing: standingOf(sourceLog(made, source), offset) })),
  )
  const prints = rows.map(({ one }) => print(contentOf(one)))
  return {
    high: Int32Array.from(prints, ({ high }) => high),
    low: Int32Array.from(prints, ({ low }) => low),
    source: Int32Array.from(rows, ({ source }) => source),
    offset: Float64Array.from(rows, ({ offset }) => offset),
    output: Int32Array.from(rows, ({ one }) => numberOf(one)),
    standing: Uint8Array.from(rows, (row) => row.standing),
  }
}

function standingOf({ committed, committedAfter, relayedUntil }: SourceLog, offset: number): number {
  if (offset < (committed ?? relayedUntil)) return standing.required
  return offset < (committedAfter ?? relayedUntil) ? standing.allowed : standing.ahead
}

/** What one check says of a history. */
export const findingOf = (check: Check, made: HistoryMade) => {
  const whole = history(made)
  return check(whole, matchRecords(whole))
}

/** All that is said against a history: check, status and count, sorted. */
export function complaints(made: HistoryMade, asked: readonly Check[] = checks, match = matchRecords): string[] {
  const whole = history(made)
  const matching = match(whole)
  return asked
    .map((check) => check(whole, matching))
    .filter(({ status }) => status !== 'held')
    .map(({ check, status, count }) => `${check} ${status} ${count}`)
    .sort()
}
