import { fence, type HistoryMade, laneId, metadata, producerOf, transaction } from './histories.ts'

export const abc = { gives: ['a', 'b', 'c'] }
/** By ids it is not known which output a record goes to. */
const abcAnywhere: HistoryMade['sources'][number] = { gives: abc.gives.map((value) => [value, -1] as const) }
/** One source partition with a, b and c, all committed, and one output. */
export const one = (shows: HistoryMade['outputs'][number]['shows'], over: Partial<HistoryMade> = {}): HistoryMade => ({
  sources: [abc],
  outputs: [{ shows }],
  ...over,
})

/** The three records are visible; how many transactions is all that matters. */
const aborts = (committed: number, aborted: number) =>
  one(['a', 'b', 'c'], {
    outputs: [
      {
        shows: ['a', 'b', 'c'],
        transactions: Array.from({ length: committed + aborted }, (_, producerEpoch) =>
          producerEpoch < committed
            ? transaction({ producerEpoch, visible: 1 })
            : transaction({ producerEpoch, fate: 'aborted', hidden: 1 }),
        ),
      },
    ],
  })

/** Histories in which nothing is wrong. */
export const rightHistories: readonly (readonly [title: string, made: HistoryMade])[] = [
  ['each record once, in order', one(['a', 'b', 'c'])],
  ['nothing at all', { sources: [{ gives: [] }], outputs: [{ shows: [] }] }],
  [
    'two source partitions interleaved in one output, each in its order',
    {
      sources: [abc, { gives: ['x', 'y'] }],
      outputs: [
        {
          shows: [['x', 1], 'a', ['y', 1], 'b', 'c'],
          transactions: [transaction({ visible: 3 }), transaction({ producerId: producerOf(1), visible: 2 })],
        },
      ],
    },
  ],
  [
    'one source partition in two outputs',
    { sources: [{ gives: ['a', ['b', 1], 'c'] }], outputs: [{ shows: ['a', 'c'] }, { shows: ['b'] }] },
  ],
  [
    'equal records as often as the source gives them',
    { sources: [{ gives: ['a', 'a', 'b', 'a'] }], outputs: [{ shows: ['a', 'a', 'b', 'a'] }] },
  ],
  [
    'an aborted transaction that nobody sees',
    one(['a', 'b', 'c'], {
      outputs: [
        {
          shows: ['a', 'b', 'c'],
          transactions: [transaction({ visible: 3 }), transaction({ fate: 'aborted', hidden: 9 })],
        },
      ],
    }),
  ],
  [
    'records relayed while the verifier read, seen',
    { sources: [{ ...abc, committed: 1n, committedAfter: 3n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
  ],
  [
    'records relayed while the verifier read, not seen',
    { sources: [{ ...abc, committed: 1n, committedAfter: 3n }], outputs: [{ shows: ['a'] }] },
  ],
  [
    'equal records of which one must be there and one may be, of two source partitions',
    {
      sources: [{ gives: ['a'], committed: 0n, committedAfter: 1n }, { gives: ['a'] }],
      outputs: [{ shows: ['a'], transactions: [transaction({ producerId: producerOf(1), visible: 1 })] }],
    },
  ],
  [
    'what the fence record remembers is what is committed',
    one(['a', 'b', 'c'], {
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: producerOf(0),
          fence: fence({ committedUntil: new Map([[0, 3n]]) }),
        },
      ],
    }),
  ],
  [
    'equal records of two lanes, each written by its own producer',
    {
      sources: [{ gives: ['a', 'x'] }, { gives: ['x', 'b'] }],
      outputs: [
        {
          shows: [
            ['x', 0],
            ['a', 1],
            ['x', 1],
            ['b', 2],
          ],
          transactions: [
            transaction({ producerId: producerOf(1), visible: 1 }),
            transaction({ visible: 2 }),
            transaction({ producerId: producerOf(1), producerEpoch: 1, visible: 1 }),
          ],
        },
      ],
    },
  ],
  [
    'a reset that died after its commit: the fence record remembers more, and that it is being reset',
    {
      sources: [{ gives: ['a', 'b'] }],
      outputs: [{ shows: ['a', 'b'] }],
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: producerOf(0),
          fence: fence({ committedUntil: new Map([[0, 9n]]), resetTo: new Map([[0, 2n]]) }),
        },
      ],
    },
  ],
  [
    'Kafka has forgotten the offset of an idle lane, its fence record remembers that everything is relayed',
    {
      sources: [{ ...abc, committed: null, metadata: null, relayedUntil: 3n, records: 3 }],
      outputs: [{ shows: ['a', 'b', 'c'] }],
    },
  ],
  ['one transaction in three aborted', aborts(20, 10)],
  ['most of a few transactions aborted', aborts(1, 9)],
]

/** Histories with one thing wrong, and all that is to be said of them: check, status, count. */
export const wrongHistories: readonly (readonly [title: string, made: HistoryMade, wanted: readonly string[]])[] = [
  ['lost in the middle', one(['a', 'c']), ['count violated 1', 'lost violated 1']],
  ['lost at the end', one(['a', 'b']), ['count violated 1', 'lost violated 1']],
  ['everything lost', one([]), ['count violated 3', 'lost violated 3']],
  ['duplicated at once', one(['a', 'b', 'b', 'c']), ['count violated 1', 'duplicated violated 1']],
  ['a window relayed twice', one(['a', 'b', 'c', 'a', 'b', 'c']), ['count violated 3', 'duplicated violated 3']],
  [
    'one lost and one duplicated: the count alone would not tell',
    one(['a', 'a', 'c']),
    ['lost violated 1', 'duplicated violated 1'],
  ],
  ['two exchanged', one(['b', 'a', 'c']), ['outOfOrder violated 1']],
  ['the last one first', one(['c', 'a', 'b']), ['outOfOrder violated 2']],
  [
    'at the wrong output partition',
    // The partition is part of the identity: the same word, given to partition 1 and shown in 0, has another print.
    { sources: [{ gives: ['a', 'b@1'] }], outputs: [{ shows: ['a', 'b@0'] }, { shows: [] }] },
    ['lost violated 1', 'unexplained violated 1', 'count violated 1'],
  ],
  ['an output that no record gives', one(['a', 'b', 'c', 'z']), ['unexplained violated 1']],
  [
    'an equal record too few',
    { sources: [{ gives: ['a', 'b', 'a'] }], outputs: [{ shows: ['a', 'b'] }] },
    ['count violated 1', 'lost violated 1'],
  ],
  [
    'an equal record too many',
    { sources: [{ gives: ['a', 'b', 'a'] }], outputs: [{ shows: ['a', 'b', 'a', 'a'] }] },
    ['count violated 1', 'duplicated violated 1'],
  ],
  [
    'an equal record missing: the order of the others cannot be told',
    { sources: [{ gives: ['a', 'b', 'a'] }], outputs: [{ shows: ['b', 'a'] }] },
    ['count violated 1', 'lost violated 1'],
  ],
  [
    'an equal record too many: the order of the others cannot be told',
    { sources: [{ gives: ['a', 'b', 'a'] }], outputs: [{ shows: ['a', 'a', 'b', 'a'] }] },
    ['count violated 1', 'duplicated violated 1'],
  ],
  [
    'equal records in the right number, in the wrong order',
    { sources: [{ gives: ['a', 'b', 'a'] }], outputs: [{ shows: ['a', 'a', 'b'] }] },
    ['outOfOrder violated 1'],
  ],
  [
    'of equal records, the one that must be there stands behind a later one',
    { sources: [{ gives: ['a', 'b', 'a'], committed: 2n, committedAfter: 3n }], outputs: [{ shows: ['b', 'a'] }] },
    ['outOfOrder violated 1'],
  ],
  [
    'an output visible before its offset is committed',
    { sources: [{ ...abc, committed: 2n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['count violated 1', 'ahead violated 1', 'lag noted 1'],
  ],
  [
    'everything is relayed by somebody else, perhaps by the same relay under another prefix',
    {
      sources: [{ ...abc, committed: null, metadata: null }],
      outputs: [{ shows: ['a', 'b', 'c'], transactions: [transaction({ producerId: 7n, visible: 3 })] }],
      lanes: [{ transactionalId: laneId(0), producerId: null, fence: null }],
    },
    ['ahead unproven 3', 'count unproven 3', 'lag noted 3', 'started unproven 1'],
  ],
  [
    'Kafka may have forgotten one idle lane, and its fence record was not read',
    {
      sources: [abc, { gives: ['x'], committed: null, metadata: null }],
      outputs: [
        {
          shows: ['a', ['x', 1], 'b', 'c'],
          transactions: [transaction({ visible: 3 }), transaction({ producerId: 7n, visible: 1 })],
        },
      ],
      lanes: [
        { transactionalId: laneId(0), producerId: producerOf(0), fence: 'not read' },
        { transactionalId: laneId(1), producerId: null, fence: 'not read' },
      ],
    },
    ['ahead unproven 1', 'count unproven 1', 'lag noted 1'],
  ],
  [
    'somebody else has written what the relay has still to write',
    {
      sources: [{ ...abc, committed: 2n }],
      outputs: [
        {
          shows: ['a', 'b', ['c', 1]],
          transactions: [transaction({ visible: 2 }), transaction({ producerId: 7n, visible: 1 })],
        },
      ],
    },
    ['ahead unproven 1', 'count unproven 1', 'lag noted 1'],
  ],
  [
    'outputs by the lane, and none of its offsets committed',
    { sources: [{ ...abc, committed: null, metadata: null }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['ahead violated 3', 'count violated 3', 'lag noted 3', 'started unproven 1'],
  ],
  [
    'not relayed yet is lag, no loss',
    { sources: [{ ...abc, committed: 1n }], outputs: [{ shows: ['a'] }] },
    ['lag noted 2'],
  ],
  [
    'nothing committed yet is lag',
    { sources: [{ ...abc, committed: null, metadata: null }], outputs: [{ shows: [] }] },
    ['lag noted 3', 'started unproven 1'],
  ],
  [
    'a record of an aborted transaction seen',
    one(['a', 'b', 'c'], {
      outputs: [
        {
          shows: ['a', 'b', ['c', 1]],
          transactions: [transaction({ visible: 2 }), transaction({ producerEpoch: 1, fate: 'aborted', visible: 1 })],
        },
      ],
    }),
    ['abortedSeen violated 1'],
  ],
  [
    'a record of a transaction without a marker seen',
    one(['a', 'b', 'c'], {
      outputs: [
        { shows: ['a', 'b', 'c'], transactions: [transaction({ fate: 'open', markerOffset: null, visible: 3 })] },
      ],
    }),
    ['abortedSeen violated 3'],
  ],
  [
    'aborted data seen in the source, where the relay has read it',
    {
      sources: [{ ...abc, transactions: [transaction({ fate: 'aborted', visible: 1 })] }],
      outputs: [{ shows: ['a', 'b', 'c'] }],
    },
    ['abortedSeen violated 1'],
  ],
  [
    'records of a committed transaction hidden',
    one(['a', 'b'], { outputs: [{ shows: ['a', 'b'], transactions: [transaction({ visible: 2, hidden: 1 })] }] }),
    ['count violated 1', 'lost violated 1', 'committedHidden violated 1'],
  ],
  [
    'a transaction left open, says its coordinator',
    one(['a', 'b', 'c'], {
      openTransactions: [
        {
          transactionalId: laneId(0),
          state: 'Ongoing',
          producerId: producerOf(0),
          producerEpoch: 3,
          startedAtMs: 1,
          partitions: ['out-0'],
        },
      ],
    }),
    ['openTransactions violated 1'],
  ],
  [
    "a transaction of the relay's hangs, says the partition alone",
    one(['a', 'b'], {
      outputs: [
        { shows: ['a', 'b'], end: 9n, heldBy: [{ producerId: producerOf(0), producerEpoch: 3, fromOffset: 2n }] },
      ],
    }),
    ['count unproven 1', 'hidden unproven 1', 'unseen unproven 1', 'openTransactions violated 1'],
  ],
  [
    'a stranger holds readers back: the missing record may be behind',
    one(['a', 'b'], {
      outputs: [{ shows: ['a', 'b'], end: 9n, heldBy: [{ producerId: 7n, producerEpoch: 0, fromOffset: 2n }] }],
    }),
    ['count unproven 1', 'hidden unproven 1', 'unseen unproven 1'],
  ],
  [
    'retention has cut the first outputs',
    one(['b', 'c'], { outputs: [{ shows: ['b', 'c'], logStart: 5n, from: 5n, until: 7n, end: 7n }] }),
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'retention explains the beginning, not the middle',
    one(['a', 'c'], { outputs: [{ shows: ['a', 'c'], logStart: 5n, from: 5n, until: 7n, end: 7n }] }),
    ['count unproven 1', 'lost violated 1'],
  ],
  [
    'by ids: retention has cut one output, and an earlier record went to another',
    {
      by: 'ids',
      sources: [abcAnywhere],
      outputs: [{ shows: ['a'] }, { shows: ['c'], logStart: 5n, from: 5n, until: 6n, end: 6n }],
    },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'by ids: retention has cut one output, and all of it that is left came later',
    {
      by: 'ids',
      sources: [abcAnywhere],
      outputs: [{ shows: ['c'] }, { shows: ['a'], logStart: 5n, from: 5n, until: 6n, end: 6n }],
    },
    ['count unproven 1', 'lost violated 1'],
  ],
  [
    'what one source partition has in another output says nothing of where retention has cut',
    {
      sources: [{ gives: [['b', 1]] }, { gives: ['x', 'y'] }],
      outputs: [
        {
          shows: ['y'],
          logStart: 5n,
          from: 5n,
          until: 6n,
          end: 6n,
          transactions: [transaction({ producerId: producerOf(1), visible: 1 })],
        },
        { shows: ['b'] },
      ],
    },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'one of two outputs is compacted',
    { sources: [{ gives: ['a', ['b', 1]] }], outputs: [{ shows: [], removed: 1n }, { shows: ['b'] }] },
    ['count unproven 1', 'hidden unproven 1', 'unseen unproven 1'],
  ],
  [
    'one of two outputs is held back by a stranger',
    {
      sources: [{ gives: ['a', ['b', 1]] }],
      outputs: [
        { shows: [], end: 4n, heldBy: [{ producerId: 7n, producerEpoch: 0, fromOffset: 0n }] },
        { shows: ['b'] },
      ],
    },
    ['count unproven 1', 'hidden unproven 1', 'unseen unproven 1'],
  ],
  [
    'everything is there, a copy may stand behind the open transaction of a stranger',
    one([], {
      outputs: [{ shows: ['a', 'b', 'c'], end: 9n, heldBy: [{ producerId: 7n, producerEpoch: 0, fromOffset: 3n }] }],
    }),
    ['hidden unproven 1'],
  ],
  [
    'everything is there, compaction may have removed a copy',
    one([], { outputs: [{ shows: ['a', 'b', 'c'], removed: 1n }] }),
    ['hidden unproven 1'],
  ],
  [
    'an output that its broker has dated before the time that is judged, says its clock',
    { sources: [{ ...abc, before: 'older' }], outputs: [{ shows: ['a', 'c'], isDatedAnew: true }] },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'an output that its broker has dated within the time that is judged, says its clock, of an earlier record',
    { sources: [{ ...abc, before: 'older' }], outputs: [{ shows: ['a', 'z', 'b', 'c'], isDatedAnew: true }] },
    ['unexplained unproven 1'],
  ],
  [
    'the same of a record that has an equal',
    { sources: [{ ...abc, before: 'older' }], outputs: [{ shows: ['a', 'b', 'b', 'c'], isDatedAnew: true }] },
    ['duplicated unproven 1'],
  ],
  [
    'compaction has removed a record of the source behind its output',
    { sources: [{ gives: ['a', 'c'], removed: 1n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['unexplained unproven 1'],
  ],
  [
    'compaction has removed a record of the source behind its output, and kept an equal one',
    { sources: [{ gives: ['a', 'b'], removed: 1n }], outputs: [{ shows: ['a', 'b', 'b'] }] },
    ['duplicated unproven 1'],
  ],
  [
    'where one of two source partitions started is not known',
    {
      sources: [{ gives: ['a'], before: 'unknown start' }, { gives: ['x'] }],
      outputs: [{ shows: ['x'], transactions: [transaction({ producerId: producerOf(1), visible: 1 })] }],
    },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'the relay started at an event that nobody remembers',
    { sources: [{ ...abc, before: 'unknown start' }], outputs: [{ shows: ['b', 'c'] }] },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'a compacted output',
    one(['a', 'c'], { outputs: [{ shows: ['a', 'c'], removed: 1n }] }),
    ['count unproven 1', 'hidden unproven 1', 'unseen unproven 1'],
  ],
  [
    'retention has cut the first of two equal outputs',
    {
      sources: [{ gives: ['a', 'a', 'b'] }],
      outputs: [{ shows: ['a', 'b'], logStart: 5n, from: 5n, until: 7n, end: 7n }],
    },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'retention has cut one of two equal outputs of two source partitions',
    {
      sources: [{ gives: ['a', 'x'] }, { gives: ['x', 'y'] }],
      outputs: [
        {
          shows: ['a', 'x', ['y', 1]],
          logStart: 5n,
          from: 5n,
          until: 8n,
          end: 8n,
          transactions: [transaction({ visible: 2 }), transaction({ producerId: producerOf(1), visible: 1 })],
        },
      ],
    },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'an equal of another source partition says nothing of where retention has cut',
    {
      sources: [{ gives: ['x'] }, { gives: ['x', 'b', 'c'] }],
      outputs: [
        {
          shows: ['x', ['c', 1]],
          logStart: 5n,
          from: 5n,
          until: 7n,
          end: 7n,
          transactions: [transaction({ visible: 1 }), transaction({ producerId: producerOf(1), visible: 1 })],
        },
      ],
    },
    ['count unproven 2', 'unseen unproven 2'],
  ],
  [
    'the relay started behind the first of two equal records, at an event that nobody remembers',
    { sources: [{ gives: ['x', 'x', 'b'], before: 'unknown start' }], outputs: [{ shows: ['x', 'b'] }] },
    ['count unproven 1', 'unseen unproven 1'],
  ],
  [
    'an output may be a copy, or of an equal record that retention has cut',
    { sources: [{ gives: ['x', 'z'], before: 'older' }], outputs: [{ shows: ['x', 'y', 'x', 'z'] }] },
    ['duplicated unproven 1', 'foreign noted 1'],
  ],
  [
    'behind the first one that is known, a copy is a copy',
    { sources: [{ gives: ['a', 'x', 'z'], before: 'older' }], outputs: [{ shows: ['a', 'x', 'x', 'z'] }] },
    ['count violated 1', 'duplicated violated 1'],
  ],
  [
    'the output of a record that retention has cut is not that of an equal one which is not relayed yet',
    { sources: [{ gives: ['a', 'x'], committed: 1n, before: 'older' }], outputs: [{ shows: ['x', 'a'] }] },
    ['duplicated unproven 1', 'lag noted 1'],
  ],
  [
    'outputs of source records that retention has cut stand first',
    { sources: [{ ...abc, before: 'older' }], outputs: [{ shows: ['y', 'z', 'a', 'b', 'c'] }] },
    ['foreign noted 2'],
  ],
  [
    'behind the first one that is known, nothing older can stand',
    { sources: [{ ...abc, before: 'older' }], outputs: [{ shows: ['a', 'z', 'b', 'c'] }] },
    ['unexplained violated 1'],
  ],
  [
    'outputs of cut source records may stand until each source partition has been met',
    {
      sources: [
        { gives: ['a', 'b'], before: 'older' },
        { gives: ['x'], before: 'older' },
      ],
      outputs: [
        {
          shows: ['a', 'y', ['x', 1], 'z', 'b'],
          transactions: [transaction({ visible: 4 }), transaction({ producerId: producerOf(1), visible: 1 })],
        },
      ],
    },
    ['foreign noted 1', 'unexplained violated 1'],
  ],
  ['a stranger writes without a transaction', one(['a', 'b', 'c', ['z', -1]]), ['foreign noted 1']],
  [
    'a stranger writes in a transaction',
    one(['a', 'b', 'c'], {
      outputs: [
        {
          shows: ['a', 'b', 'c', ['z', 1]],
          transactions: [transaction({ visible: 3 }), transaction({ producerId: 7n, visible: 1 })],
        },
      ],
    }),
    ['foreign noted 1'],
  ],
  [
    'a copy is a duplicate, whoever wrote it',
    one(['a', 'b', 'c', ['b', -1]]),
    ['count violated 1', 'duplicated violated 1'],
  ],
  [
    'the committed offset went back',
    { sources: [{ ...abc, committed: 3n, committedAfter: 2n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['lag noted 1', 'offsets violated 1'],
  ],
  [
    'the committed offset is gone',
    { sources: [{ ...abc, committedAfter: null, metadata: null }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['lag noted 3', 'offsets violated 1'],
  ],
  [
    'the committed offset is beyond the end',
    { sources: [{ ...abc, committedAfter: 9n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['offsets violated 1'],
  ],
  [
    'the committed offset is behind an open transaction of the source: uncommitted records were read',
    { sources: [{ gives: ['a', 'b'], committed: 3n, stableEnd: 2n, end: 4n }], outputs: [{ shows: ['a', 'b'] }] },
    ['lag noted 0', 'offsets violated 1'],
  ],
  [
    'the offset was committed by hand',
    { sources: [{ ...abc, metadata: null }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['offsets violated 1'],
  ],
  [
    'the offset was committed by another lane',
    { sources: [{ ...abc, metadata: metadata(laneId(1)) }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['offsets violated 1'],
  ],
  [
    'the offset was committed for a topic of the same name',
    {
      sources: [{ ...abc, metadata: { ...metadata(laneId(0)), topicId: 'before' } }],
      outputs: [{ shows: ['a', 'b', 'c'] }],
    },
    ['offsets violated 1'],
  ],
  [
    'the offset was committed in another cluster',
    {
      sources: [{ ...abc, metadata: { ...metadata(laneId(0)), clusterId: 'before' } }],
      outputs: [{ shows: ['a', 'b', 'c'] }],
    },
    ['offsets violated 1'],
  ],
  [
    'the offset was committed by another deployment',
    {
      sources: [{ ...abc, metadata: { ...metadata(laneId(0)), lineage: 'other' } }],
      outputs: [{ shows: ['a', 'b', 'c'] }],
    },
    ['offsets violated 1'],
  ],
  [
    'the fence record remembers more than is committed',
    one(['a', 'b', 'c'], {
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: producerOf(0),
          fence: fence({ committedUntil: new Map([[0, 4n]]) }),
        },
      ],
    }),
    ['offsets violated 1'],
  ],
  [
    'the committed offset is gone, the fence record remembers one and is dirty',
    {
      sources: [{ gives: ['a'], committed: null, metadata: null }],
      outputs: [{ shows: [] }],
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: null,
          fence: fence({
            dirty: true,
            owner: { nonce: 'n', container: 'c', requestId: 'r' },
            leaseUntilMs: 2_000_000,
            committedUntil: new Map([[0, 1n]]),
          }),
        },
      ],
    },
    ['lag noted 1', 'offsets violated 1', 'started unproven 1'],
  ],
  [
    'the source was cut before it was relayed',
    {
      sources: [{ gives: ['a', 'b'], committed: 2n, logStart: 5n, end: 9n, stableEnd: 9n }],
      outputs: [{ shows: ['a', 'b'] }],
    },
    ['lag noted 7', 'sourceCut unproven 1'],
  ],
  [
    'the source was cut behind what a fence record remembers, Kafka has forgotten the offset',
    {
      sources: [{ gives: [], committed: null, metadata: null, relayedUntil: 2n, logStart: 5n, records: 1 }],
      outputs: [{ shows: [] }],
    },
    ['sourceCut unproven 1'],
  ],
  [
    'the source waits behind an open transaction of somebody else',
    { sources: [{ ...abc, end: 5n }], outputs: [{ shows: ['a', 'b', 'c'] }] },
    ['lag noted 0'],
  ],
  [
    'a fenced session wrote after its successor',
    one(['a', 'b', 'c'], {
      outputs: [
        {
          shows: ['a', ['b', 1], ['c', 2]],
          transactions: [5, 6, 5].map((producerEpoch) => transaction({ producerEpoch, visible: 1 })),
        },
      ],
    }),
    ['fences violated 1'],
  ],
  [
    'a producer came back after another one had followed it',
    one(['a', 'b', 'c'], {
      outputs: [
        {
          shows: ['a', ['b', 1], ['c', 2]],
          transactions: [100n, 200n, 100n].map((producerId) => transaction({ producerId, visible: 1 })),
        },
      ],
    }),
    ['fences violated 1'],
  ],
  [
    'one producer wrote for two lanes',
    {
      sources: [{ gives: ['a'] }, { gives: ['x'] }],
      outputs: [
        {
          shows: ['a', ['x', 1]],
          transactions: [transaction({ visible: 1 }), transaction({ producerEpoch: 1, visible: 1 })],
        },
      ],
    },
    ['fences violated 1'],
  ],
  [
    'a lane is stopped',
    one(['a', 'b', 'c'], {
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: null,
          fence: fence({ stopped: { code: 'OFFSETS_LOST', message: 'gone', atMs: 1 } }),
        },
      ],
    }),
    ['lanes noted 1'],
  ],
  [
    'a lane was left at work by an owner that died',
    one(['a', 'b', 'c'], {
      lanes: [
        {
          transactionalId: laneId(0),
          producerId: null,
          fence: fence({ dirty: true, owner: { nonce: 'n', container: 'c', requestId: 'r' }, leaseUntilMs: 999_999 }),
        },
      ],
    }),
    ['lanes noted 1'],
  ],
  [
    'a dead letter that would pass now',
    one(['a', 'b', 'c'], { deadLetters: { found: 3, notReproduced: 1 } }),
    ['deadLetters noted 3'],
  ],
  ['more than one transaction in three aborted', aborts(19, 10), ['abortedTransactions noted 10']],
]
