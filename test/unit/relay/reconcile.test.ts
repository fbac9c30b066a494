import { describe, expect, test } from 'vitest'
import { formatCommitMetadata } from '../../../lib/relay/commit-metadata.ts'
import { type ReconcileInput, type RecordAsFound, reconcile } from '../../../lib/relay/reconcile.ts'

const id = 'shop.delays.flights.0'
const lineage = 'lineage-a'
const log = { clusterId: 'cluster-1', topicId: 'topic-1' }

const ours = (changes: Partial<Parameters<typeof formatCommitMetadata>[0]> = {}): string =>
  formatCommitMetadata({ lineage, id, topicId: log.topicId, clusterId: log.clusterId, token: 3, from: 0n, ...changes })

const record = (changes: Partial<RecordAsFound> = {}): RecordAsFound => ({
  lineage,
  token: 3,
  dirty: false,
  clusterId: log.clusterId,
  sourceTopicId: log.topicId,
  committedUntil: new Map([[0, 100n]]),
  resetTo: null,
  ...changes,
})

function judge(found: RecordAsFound | null, offset: bigint | null, metadata = '', input: Partial<ReconcileInput> = {}) {
  const committed = [{ partition: 0, offset, metadata }]
  const base = { transactionalId: id, found, clusterId: log.clusterId, sourceTopicId: log.topicId, committed }
  const result = reconcile({ ...base, ...input })
  return { ...result, verdict: result.partitions.get(0) }
}

const stop = (code: string) => expect.objectContaining({ kind: 'stop', code })
const goOn = (position: bigint, recommit = false) => ({ kind: 'continue', position, recommit })

describe('reconcile (R8)', () => {
  test('a new record and no offset is the first start', () => {
    expect(judge(null, null).verdict).toEqual({ kind: 'first-start' })
  })
  test('a record whose owner died before it wrote F is still the first start (S1)', () => {
    expect(judge(record({ committedUntil: new Map() }), null).verdict).toEqual({ kind: 'first-start' })
  })
  test('F was written but never committed: it is committed again, the policy is not asked again (S1)', () => {
    expect(judge(record(), null).verdict).toEqual(goOn(100n, true))
  })
  test('no offset under a dirty record: windows may be lost, so the lane stops', () => {
    expect(judge(record({ dirty: true }), null).verdict).toEqual(stop('OFFSETS_LOST'))
  })
  test('the committed offset equals the remembered one', () => {
    expect(judge(record(), 100n, ours()).verdict).toEqual(goOn(100n))
  })
  test('past the remembered one: windows under way committed it', () => {
    expect(judge(record({ dirty: true }), 150n, ours()).verdict).toEqual(goOn(150n))
  })
  test('past the remembered one although no window was under way', () => {
    expect(judge(record(), 150n, ours()).verdict).toEqual(stop('OFFSET_MOVED'))
  })
  test('below the remembered one', () => {
    expect(judge(record({ dirty: true }), 99n, ours()).verdict).toEqual(stop('OFFSET_REGRESSED'))
  })
  test.each([99n, 100n, 150n])('offset %s committed by hand is never believed', (offset) => {
    expect(judge(record({ dirty: true }), offset, '').verdict).toEqual(stop('OFFSET_MOVED'))
    expect(judge(record({ dirty: true }), offset, 'by hand').verdict).toEqual(stop('OFFSET_MOVED'))
  })
  test('an offset by hand before the first start', () => {
    expect(judge(null, 5n, '').verdict).toEqual(stop('OFFSET_MOVED'))
  })
  test('metadata of another lane is not ours', () => {
    expect(judge(record(), 100n, ours({ id: 'shop.delays.flights.1' })).verdict).toEqual(stop('OFFSET_MOVED'))
  })
  test('another lineage under a record with positions: another deployment', () => {
    expect(judge(record(), 100n, ours({ lineage: 'lineage-b' })).verdict).toEqual(stop('PREFIX_SHARED'))
  })
  test('the table was lost: the offset is taken, its lineage and the next token adopted (S9)', () => {
    const result = judge(null, 150n, ours({ token: 9, lineage: 'lineage-z' }))
    expect(result.verdict).toEqual(goOn(150n))
    expect(result.adopt).toEqual({ token: 10, lineage: 'lineage-z' })
  })
  test('the table was restored from an older copy: the higher token is the truth, even though the record is clean (S9)', () => {
    const result = judge(record(), 150n, ours({ token: 7 }))
    expect(result.verdict).toEqual(goOn(150n))
    expect(result.adopt).toEqual({ token: 8, lineage })
  })
  test('nothing is adopted while record and offsets agree', () => {
    expect(judge(record(), 100n, ours()).adopt).toBeNull()
    expect(judge(record(), 100n, ours({ token: 2 })).adopt).toBeNull()
  })
  test('another cluster or a topic made anew stops the lane whatever the offsets say', () => {
    expect(judge(record(), 100n, ours(), { clusterId: 'cluster-2' }).verdict).toEqual(stop('SOURCE_REPLACED'))
    expect(judge(record(), null, '', { sourceTopicId: 'topic-2' }).verdict).toEqual(stop('SOURCE_REPLACED'))
  })
  test('an offset of this lane in another log stops it even when the table was lost', () => {
    expect(judge(null, 100n, ours({ topicId: 'topic-0' })).verdict).toEqual(stop('SOURCE_REPLACED'))
  })
  test('a half-done reset is finished before anything else is judged (S8)', () => {
    const found = record({ resetTo: new Map([[0, 40n]]), sourceTopicId: 'topic-0', dirty: true })
    const result = judge(found, 150n, 'by hand')
    expect(result.verdict).toEqual(goOn(40n, true))
    expect(result.finishesReset).toBe(true)
  })
  test('partitions are judged one by one', () => {
    const { partitions } = reconcile({
      transactionalId: id,
      found: record({ dirty: true }),
      clusterId: log.clusterId,
      sourceTopicId: log.topicId,
      committed: [
        { partition: 0, offset: 120n, metadata: ours() },
        { partition: 1, offset: null, metadata: '' },
      ],
    })
    expect(partitions.get(0)).toEqual(goOn(120n))
    expect(partitions.get(1)).toEqual({ kind: 'first-start' })
  })
})
