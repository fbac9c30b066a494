import { describe, expect, test } from 'vitest'
import {
  duplicatedRecords,
  hiddenOutputs,
  lostRecords,
  outOfOrder,
  unseenRecords,
} from '../../../lib/verify/checks/delivery.ts'
import { deadLettersReproduced, waitingLanes } from '../../../lib/verify/checks/lanes.ts'
import { lagBehindEnd } from '../../../lib/verify/checks/positions.ts'
import { abortedTransactions, openTransactions } from '../../../lib/verify/checks/transactions.ts'
import { type Check, checksOfAnyRelay } from '../../../lib/verify/judge.ts'
import {
  complaints,
  fence,
  findingOf,
  type HistoryMade,
  laneId,
  producerOf,
  transaction,
} from '../../helpers/histories.ts'
import { abc, one, rightHistories, wrongHistories } from '../../helpers/history-cases.ts'

describe('histories in which nothing is wrong', () => {
  test.each(rightHistories)('%s', (_, made) => {
    expect(complaints(made)).toEqual([])
  })
})

describe('a wrong history is told as what is wrong in it, and nothing else', () => {
  test.each(wrongHistories)('%s', (_, made, wanted) => {
    expect(complaints(made)).toEqual(wanted.toSorted())
  })
})

describe('what is not held against a relay', () => {
  test('a lane at work, its lease alive', () => {
    const owner = { nonce: 'n', container: 'c', requestId: 'r' }
    const working = fence({ dirty: true, owner, leaseUntilMs: 1_000_001 })
    const lanes = [{ transactionalId: laneId(0), producerId: producerOf(0), fence: working }]
    expect(complaints(one(['a', 'b', 'c'], { lanes }))).toEqual([])
  })

  test('no offset where the fence record is clean: a first start, or an idle week', () => {
    const lanes = [
      { transactionalId: laneId(0), producerId: null, fence: fence({ committedUntil: new Map([[0, 1n]]) }) },
    ]
    const sources = [{ gives: ['a'], committed: null, metadata: null }]
    expect(complaints({ sources, outputs: [{ shows: [] }], lanes })).toEqual(['lag noted 1', 'started unproven 1'])
  })

  test('fence records that were not read', () => {
    const lanes = [{ transactionalId: laneId(0), producerId: null, fence: 'not read' as const }]
    expect(complaints(one(['a', 'b', 'c'], { lanes }))).toEqual([])
  })

  test('how another relay keeps its offsets and producers; what it lost is', () => {
    const anothers = { gives: ['a', 'b'], metadata: null }
    const made = { sources: [anothers], outputs: [{ shows: ['a'] }] }
    expect(complaints(made)).toContain('offsets violated 1')
    expect(complaints(made, checksOfAnyRelay)).toEqual(['count violated 1', 'lost violated 1'])
  })

  test('the order of equal records of two source partitions: nobody can tell it', () => {
    const made = {
      sources: [{ gives: ['a', 'x'] }, { gives: ['x', 'b'] }],
      outputs: [
        {
          shows: [['x', 1], 'a', ['b', 1], 'x'],
          transactions: [transaction({ visible: 2 }), transaction({ producerId: producerOf(1), visible: 2 })],
        },
      ],
    } as const
    expect(complaints(made)).toEqual([])
  })

  test('a partition that got nothing of an aborted transaction: its marker is not counted again', () => {
    const marked = { fate: 'aborted', producerEpoch: 6 } as const
    const outputs = [
      {
        shows: ['a', 'b', 'c'],
        transactions: [transaction({ visible: 3 }), transaction({ ...marked, producerEpoch: 5, hidden: 1 })],
      },
      { shows: [], transactions: [transaction(marked)] },
    ]
    expect(findingOf(abortedTransactions, one([], { outputs }))).toMatchObject({ count: 1 })
  })

  test('a transaction over two partitions counts once', () => {
    const outputs = [
      { shows: ['a', 'b', 'c'], transactions: [transaction({ producerEpoch: 5, fate: 'aborted', hidden: 1 })] },
      { shows: [], transactions: [transaction({ producerEpoch: 5, fate: 'aborted', hidden: 1 })] },
    ]
    expect(findingOf(abortedTransactions, one([], { outputs }))).toMatchObject({ count: 1 })
  })
})

describe('weaker guarantees promise less', () => {
  const twice = { sources: [{ ...abc, committed: 2n }], outputs: [{ shows: ['a', 'b', 'b', 'c'] }] } as const

  test('at-least-once allows duplicates and outputs before their offsets', () => {
    expect(complaints({ ...twice, guarantee: 'at-least-once' })).toEqual([
      'ahead noted 1',
      'count noted 2',
      'duplicated noted 1',
      'lag noted 1',
    ])
  })

  test('at-least-once does not allow losses', () => {
    expect(complaints(one(['a'], { guarantee: 'at-least-once' }))).toEqual(['count violated 2', 'lost violated 2'])
  })

  test('at-least-once is proven where copies could hide', () => {
    const outputs = [{ shows: ['a', 'b', 'c'], end: 9n, removed: 1n }]
    expect(complaints(one([], { guarantee: 'at-least-once', outputs }))).toEqual([])
  })

  test('none allows what a dead function wrote late', () => {
    expect(complaints(one(['b', 'a', 'c'], { guarantee: 'none' }))).toEqual(['outOfOrder noted 1'])
  })

  test('none allows losses', () => {
    expect(complaints(one(['a'], { guarantee: 'none' }))).toEqual(['count noted 2', 'lost noted 2'])
  })

  test('records outside of any transaction may be theirs, or of somebody else', () => {
    const shows = [
      ['a', -1],
      ['b', -1],
      ['c', -1],
      ['z', -1],
    ] as const
    expect(complaints(one(shows, { guarantee: 'at-least-once' }))).toEqual(['unexplained unproven 1'])
  })
})

describe('what is said, and where', () => {
  test.each<[string, Check, HistoryMade, string, readonly string[]]>([
    ['no lag', lagBehindEnd, one([]), 'everything is relayed', []],
    [
      'lag',
      lagBehindEnd,
      { sources: [{ ...abc, committed: 1n }], outputs: [] },
      '2 offsets not relayed yet',
      ['in/0: 2 below the end 3'],
    ],
    [
      'a source that is held back',
      lagBehindEnd,
      { sources: [{ ...abc, end: 4n }], outputs: [] },
      'everything is relayed; 1 offset more behind an open transaction in the source',
      [],
    ],
    ['a loss', lostRecords, one(['a', 'c']), '1 output of committed records missing', ['in/0/1, not in out/0']],
    ['a copy', duplicatedRecords, one(['a', 'b', 'b', 'c']), '1 output too many', ['out/0/2']],
    ['order', outOfOrder, one(['b', 'a', 'c']), '1 output behind later ones', ['out/0/1 follows a later one (in/0/1)']],
    [
      'why something cannot be seen',
      unseenRecords,
      one(['a', 'c'], { outputs: [{ shows: ['a', 'c'], removed: 1n }] }),
      '1 output cannot be seen now: compaction has removed records of the output topic: verify before it does, or by a topic that is not compacted',
      ['in/0/1, not in out/0 (compacted)'],
    ],
    [
      'where copies could hide',
      hiddenOutputs,
      one([], {
        outputs: [
          { shows: ['a', 'b', 'c'], removed: 2n },
          { shows: [], until: 0n, end: 9n },
        ],
      }),
      'copies could hide in 2 output partitions: verify again when no transaction is open, or a topic that is not compacted',
      ['out/0: compaction has removed 2 records', 'out/1: readers see up to 0, the log ends at 9'],
    ],
    ['fence records that are fine', waitingLanes, one(['a', 'b', 'c']), 'no lane is stopped or abandoned', []],
    [
      'fence records of which some were never made',
      waitingLanes,
      one(['a', 'b', 'c'], { lanes: [{ transactionalId: laneId(0), producerId: null, fence: null }] }),
      'no lane is stopped or abandoned',
      [],
    ],
    [
      'fence records that were not read',
      waitingLanes,
      one(['a', 'b', 'c'], { lanes: [{ transactionalId: laneId(0), producerId: null, fence: 'not read' }] }),
      'fence records were not read: give their table',
      [],
    ],
    [
      'a lane that waits beside one that is fine',
      waitingLanes,
      one(['a', 'b', 'c'], {
        lanes: [
          { transactionalId: laneId(0), producerId: null, fence: fence() },
          { transactionalId: laneId(1), producerId: null, fence: fence({ dirty: true }) },
        ],
      }),
      '1 lane stopped or abandoned',
      ['p.copy.in.1 was left at work: ring the relay'],
    ],
    [
      'dead letters',
      deadLettersReproduced,
      one([], { deadLetters: { found: 2, notReproduced: 0 } }),
      '2 dead letters',
      [],
    ],
    [
      'dead letters that would pass',
      deadLettersReproduced,
      one([], { deadLetters: { found: 2, notReproduced: 1 } }),
      '2 dead letters, of which 1 would pass now: the relay or what it depends on has changed',
      [],
    ],
    [
      'a transaction that holds nothing yet',
      openTransactions,
      one(['a', 'b', 'c'], {
        openTransactions: [
          {
            transactionalId: laneId(0),
            state: 'Ongoing',
            producerId: 1n,
            producerEpoch: 3,
            startedAtMs: 1,
            partitions: [],
          },
        ],
      }),
      '1 transaction left open: ring the relay, its next barrier ends them',
      ['p.copy.in.0: Ongoing, on no partition'],
    ],
  ])('%s', (_, check, made, detail, examples) => {
    expect(findingOf(check, made)).toMatchObject({ detail, examples })
  })
})
