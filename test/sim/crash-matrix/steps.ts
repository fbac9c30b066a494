import type { FenceChanges } from '../../../lib/fencing/fence-record.ts'
import type { Api, RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { Errand } from '../script.ts'

/** What a lane is like when the container comes to it in which the fault strikes. */
export const lanes = ['new', 'handed-over', 'warm', 'after-death'] as const
export type LaneLife = (typeof lanes)[number]

/** One await of the container. */
export interface Await {
  readonly what: string
  readonly errand: Errand
}

/** The awaits of this invocation that have begun, this one not among them. */
export type Seen = readonly Await[]

/** A step of the commit protocol, as an await that can be told from all others. */
export interface Step {
  readonly name: string
  /** Its number in the protocol (docs/architecture.md). */
  readonly number: string
  readonly isAt: (now: Await, seen: Seen) => boolean
  /** Lanes in which it happens. */
  readonly lanes: readonly LaneLife[]
  /** Why it does not happen in the others. */
  readonly elsewhere: string
  /** Whether it exists with transaction.version 2 as well. */
  readonly onlyOlder?: true
}

const all = lanes
const behindBarrier = ['new', 'handed-over', 'after-death'] as const
const warmSkips = 'a warm container keeps session and position, it passes no barrier (R5)'
const onlyNew = 'only a first start notes and commits its first position (R8)'
const onlyDead = 'windows are announced only after a death (step 5)'
const inAnchor = 'step 9 is asked in the first transaction of a session only'

const has =
  (what: string) =>
  (one: Await): boolean =>
    one.what === what
const passed = (seen: Seen, what: string): number => seen.filter(has(what)).length

/** The nth such await. */
const nth =
  (what: string, n = 1) =>
  (now: Await, seen: Seen): boolean =>
    now.what === what && passed(seen, what) === n - 1

/** The first such await of a window: a new lane has had a transaction before, with which it committed its first position. */
const inWindow =
  (what: string) =>
  (now: Await, seen: Seen): boolean =>
    now.what === what && seen.some(has('transform'))

function changesOf({ what, errand }: Await): FenceChanges {
  if (what !== 'fence write' || errand === null || !('kind' in errand)) return {}
  return errand.kind === 'create' ? errand.record : errand.changes
}

const writes = (is: (changes: FenceChanges) => boolean) => (now: Await) =>
  now.what === 'fence write' && is(changesOf(now))

function bodyOf<A extends Api>({ errand }: Await, api: A): RequestOf<A> | null {
  if (errand === null || !('api' in errand) || errand.api !== api) return null
  return errand.body as RequestOf<A>
}

const asks = (now: Await, requireStable: boolean): boolean =>
  bodyOf(now, 'OffsetFetch')?.requireStable === requireStable

export const steps: readonly Step[] = [
  { name: 'look', number: '0', isAt: nth('OffsetFetch'), lanes: all, elsewhere: '' },
  { name: 'acquire', number: '1', isAt: writes(({ owner }) => Boolean(owner)), lanes: all, elsewhere: '' },
  { name: 'barrier', number: '2', isAt: nth('InitProducerId'), lanes: behindBarrier, elsewhere: warmSkips },
  {
    name: 'confirm',
    number: '2b',
    isAt: (now, seen) => now.what === 'fence read' && passed(seen, 'InitProducerId') > 0,
    lanes: behindBarrier,
    elsewhere: warmSkips,
  },
  {
    name: 'read-committed',
    number: '3',
    isAt: (now, seen) => asks(now, true) && passed(seen, 'InitProducerId') > 0,
    lanes: behindBarrier,
    elsewhere: warmSkips,
  },
  {
    name: 'note-first',
    number: '4',
    isAt: writes(({ committedUntil, owner }) => owner === undefined && committedUntil !== undefined),
    lanes: ['new'],
    elsewhere: onlyNew,
  },
  { name: 'join-first', number: '4', isAt: nth('AddOffsetsToTxn'), lanes: ['new'], elsewhere: onlyNew },
  { name: 'offsets-first', number: '4', isAt: nth('TxnOffsetCommit'), lanes: ['new'], elsewhere: onlyNew },
  { name: 'commit-first', number: '4', isAt: nth('EndTxn'), lanes: ['new'], elsewhere: onlyNew },
  {
    name: 'note-dirty',
    number: '4',
    isAt: writes(({ dirty, owner }) => owner === undefined && dirty === true),
    lanes: ['new'],
    elsewhere: 'elsewhere the acquire itself marks the record dirty (R8)',
  },
  {
    name: 'announce',
    number: '5',
    isAt: writes(({ intent, owner }) => owner === undefined && Boolean(intent)),
    lanes: ['after-death'],
    elsewhere: onlyDead,
  },
  { name: 'fetch', number: '6', isAt: nth('Fetch'), lanes: all, elsewhere: '' },
  { name: 'transform', number: '7', isAt: nth('transform'), lanes: all, elsewhere: '' },
  { name: 'join-partitions', number: '8', isAt: inWindow('AddPartitionsToTxn'), lanes: all, elsewhere: '' },
  { name: 'join-offsets', number: '8', isAt: inWindow('AddOffsetsToTxn'), lanes: all, elsewhere: '' },
  { name: 'produce', number: '8', isAt: nth('Produce'), lanes: all, elsewhere: '' },
  { name: 'offsets', number: '8', isAt: inWindow('TxnOffsetCommit'), lanes: all, elsewhere: '' },
  {
    name: 'confirm-offsets',
    number: '9',
    isAt: (now, seen) => asks(now, false) && passed(seen, 'TxnOffsetCommit') > 0,
    lanes: behindBarrier,
    elsewhere: inAnchor,
  },
  {
    name: 'offsets-stand',
    number: '10',
    isAt: (now, seen) => asks(now, true) && inTurn(seen, 'TxnOffsetCommit'),
    lanes: all,
    elsewhere: '',
    onlyOlder: true,
  },
  { name: 'commit', number: '10', isAt: inWindow('EndTxn'), lanes: all, elsewhere: '' },
  {
    name: 'offsets-hold',
    number: '10',
    isAt: (now, seen) => asks(now, true) && inTurn(seen, 'EndTxn'),
    lanes: all,
    elsewhere: '',
    onlyOlder: true,
  },
  { name: 'release', number: '12', isAt: writes(({ owner }) => owner === null), lanes: all, elsewhere: '' },
]

/** In a window, and `what` was the last request of its transaction. */
function inTurn(seen: Seen, what: string): boolean {
  if (!seen.some(has('transform'))) return false
  return seen.findLast((one) => has('TxnOffsetCommit')(one) || has('EndTxn')(one))?.what === what
}
