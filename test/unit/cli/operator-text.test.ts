import { describe, expect, test } from 'vitest'
import { parsePlace, placeFor } from '../../../lib/cli/reset-place.ts'
import { outcomeLines, planLines } from '../../../lib/cli/reset-text.ts'
import { statusLines } from '../../../lib/cli/status-text.ts'
import { fromNow, tableLines } from '../../../lib/cli/table.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'
import { lanesOf } from '../../../lib/relay/lane-id.ts'
import type { LaneReset } from '../../../lib/relay/operator/plan-reset.ts'
import type { LaneStatus, RelayStatus } from '../../../lib/relay/operator/status.ts'
import { freeRecord } from '../../helpers/fences.ts'

const terminal: Terminal = { out() {}, err() {}, color: false, interrupted: new AbortController().signal }
const naming = { prefix: 'shop', relay: 'copy', topic: 'orders', partitionsPerLane: 1 }
const nowMs = 1_700_000_000_000

describe('a place to reset to', () => {
  test.each([
    ['earliest', { to: 'earliest' }],
    ['latest', { to: 'latest' }],
    ['1200', { to: 'offset', offset: 1200n }],
    ['9223372036854775807', { to: 'offset', offset: 9_223_372_036_854_775_807n }],
    [
      '0:1200,1:88',
      {
        to: 'offsets',
        offsets: new Map([
          [0, 1200n],
          [1, 88n],
        ]),
      },
    ],
    ['2026-08-01T06:00Z', { to: 'time', timestampMs: Date.UTC(2026, 7, 1, 6) }],
    ['2026-08-01T06:00:30.5+02:00', { to: 'time', timestampMs: Date.UTC(2026, 7, 1, 4, 0, 30, 500) }],
  ])('%s', (text, place) => {
    expect(parsePlace(text)).toEqual(place)
  })

  test.each(['', 'now', '-5', '1,2', '0:', '2026-08-01', '2026-08-01T06:00', '2026-13-01T06:00Z'])(
    '%j is refused',
    (text) => {
      expect(() => parsePlace(text)).toThrow('is none of earliest, latest')
    },
  )

  test('a bare offset is of the only partition, and refused for several', () => {
    const [one, two] = lanesOf([3, 4], 5, naming)
    if (!one || !two) throw new Error('no lanes')
    expect(placeFor([one], { to: 'offset', offset: 7n })).toEqual({ to: 'offsets', offsets: new Map([[3, 7n]]) })
    expect(() => placeFor([one, two], { to: 'offset', offset: 7n })).toThrow(/offset 7 is given for 2 partitions/)
  })
})

describe('what a reset would do', () => {
  const [id] = lanesOf([0], 1, naming)
  if (!id) throw new Error('no lane')
  const moved = (from: bigint | null, to: bigint, skipped = 0n, repeated = 0n): LaneReset => ({
    id,
    record: null,
    moves: [{ partition: 0, from, to, skipped, repeated }],
  })

  test.each([
    [moved(120n, 1_150n, 1_030n), 'from 120 to 1,150, up to 1,030 records are never relayed'],
    [moved(120n, 100n, 0n, 20n), 'from 120 to 100, up to 20 records are relayed once more'],
    [moved(120n, 120n), 'stays at 120'],
    [moved(null, 9n), 'begins at 9'],
  ])('is said in numbers: %#', (lane, text) => {
    expect(planLines([lane])).toEqual([`lane 0, partition 0: ${text}`])
  })

  test('names a stop that would end and an owner in the way', () => {
    const owner = { nonce: 'n', container: 'function-1', requestId: 'r' }
    const record = freeRecord({ stopped: { code: 'OFFSET_MOVED', message: '', atMs: 1 }, owner })
    const text = planLines([{ ...moved(1n, 1n), record }]).join('\n')
    expect(text).toContain('stopped (OFFSET_MOVED)')
    expect(text).toContain('function-1 holds it')
  })

  test('and what became of it', () => {
    expect(outcomeLines([{ lane: moved(1n, 2n), state: 'reset' }])).toEqual([
      '✓ shop.copy.orders.0: goes on from there',
    ])
  })
})

describe('a status', () => {
  const lane = (over: Partial<LaneStatus> = {}): LaneStatus => ({
    lane: 'shop.copy.orders.0',
    state: 'up to date',
    partitions: [
      {
        partition: 0,
        position: '12345',
        logStart: '0',
        stableEnd: '12345',
        logEnd: '12345',
        lag: '0',
        offsetIsOurs: true,
      },
    ],
    lag: '0',
    token: 7,
    owner: null,
    generation: 7,
    withdrawn: null,
    withdrawnBefore: {},
    dirty: false,
    attempts: 0,
    stopped: null,
    resetTo: null,
    committedAtMs: nowMs - 180_000,
    openTransaction: null,
    ...over,
  })
  const textOf = (over: Partial<LaneStatus>, status: Partial<RelayStatus> = {}): string =>
    statusLines(
      {
        ok: true,
        relay: 'copy',
        prefix: 'shop',
        source: 'orders',
        atMs: nowMs,
        lanes: [lane(over)],
        unreadable: [],
        ...status,
      },
      terminal,
    ).join('\n')

  test('is a table, and nothing more where nothing is to be looked at', () => {
    expect(textOf({}).split('\n')).toEqual([
      'copy, prefix shop, source orders',
      '',
      '  lane  partition  state       position  lag  token  last commit  owner',
      '     0          0  up to date    12,345    0      7  3 min ago        -',
    ])
  })

  test.each<[string, Partial<LaneStatus>, string]>([
    [
      'a stop',
      { stopped: { code: 'OFFSET_MOVED', message: 'moved', atMs: nowMs - 7_200_000 } },
      'stopped 2 h ago. moved',
    ],
    ['a reset under way', { resetTo: { 0: '5' } }, 'is being reset to {"0":"5"}'],
    ['deaths', { attempts: 2 }, 'died at work 2 times'],
    ['its owner', { owner: { container: 'f1', requestId: 'r', leaseUntilMs: nowMs + 4_000 } }, 'f1, lease in 4 s'],
    [
      'an open transaction',
      {
        openTransaction: {
          state: 'Ongoing',
          producerId: '1',
          producerEpoch: 0,
          startedAtMs: nowMs - 90_000,
          partitions: ['out-0'],
        },
      },
      'has a transaction (Ongoing) begun 1 min ago on out-0',
    ],
  ])('tells of %s', (_, over, text) => {
    expect(textOf(over).replaceAll(/\s+/g, ' ')).toContain(text)
  })

  test.each([
    [false, 'it stood at the position shown'],
    [true, 'windows may have been committed past the position shown'],
  ])('tells of an offset that is not its own, and how certain the position is then (dirty: %s)', (dirty, text) => {
    const partitions = lane().partitions.map((one) => ({ ...one, offsetIsOurs: false }))
    expect(textOf({ partitions, dirty }).replaceAll(/\s+/g, ' ')).toContain(text)
  })

  test('tells of a record that cannot be read', () => {
    const unreadable = [{ lane: 'shop.copy.orders.9', message: 'attribute token should be an integer' }]
    expect(textOf({}, { unreadable })).toContain('✗ the fence record shop.copy.orders.9 cannot be read')
  })
})

test('columns are as wide as their widest cell, numbers to the right', () => {
  expect(
    tableLines(
      ['name', 'n'],
      [
        ['a', '1'],
        ['long one', '1,000'],
      ],
    ),
  ).toEqual(['name          n', 'a             1', 'long one  1,000'])
})

test.each([
  [-500, '500 ms ago'],
  [-90_000, '1 min ago'],
  [4_000, 'in 4 s'],
  [-3 * 86_400_000, '3 d ago'],
])('%i ms from now is %s', (ms, text) => {
  expect(fromNow(nowMs + ms, nowMs)).toBe(text)
})
