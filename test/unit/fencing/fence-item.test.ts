import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decodeFence, encodeFence, type StoredItem } from '../../../lib/fencing/fence-item.ts'
import type { FenceRecord } from '../../../lib/fencing/fence-record.ts'
import { fenceRecord, offsets } from '../../helpers/fences.ts'

const golden = (name: string) => new URL(`../../fixtures/fence-record/${name}.json`, import.meta.url)
const stored = (name: string): StoredItem => JSON.parse(readFileSync(golden(name), 'utf8'))

const full: FenceRecord = {
  id: 'shop.delays.flights.0',
  formatVersion: 1,
  revision: 42,
  lineage: '0b6f1f1e-9d0e-4a37-8f6a-0d7f4f6f2a11',
  token: 9,
  owner: { nonce: 'nonce-9', container: 'container-a', requestId: 'request-1' },
  lastNonce: 'nonce-8',
  leaseUntilMs: 1_767_225_605_000,
  dirty: true,
  working: true,
  attempts: 3,
  resetTo: offsets([0, 10n]),
  intent: {
    partition: 0,
    from: 9_223_372_036_854_775_806n,
    recordsMax: 1,
    stage: 'transform',
    deathsAlone: 2,
    startedAtMs: 1_767_225_600_000,
  },
  committedUntil: offsets([0, 9_223_372_036_854_775_807n], [12, 0n]),
  committedAtMs: 1_767_225_550_000,
  sourceTopicId: '3e1f4a4e-5b8c-4f7e-9a86-6a2f5f3c2f10',
  clusterId: '5L6g3nShT-eMCtK--X86sw',
  outputPartitions: new Map([
    ['flights.late', 4],
    ['flights.on-time', 12],
  ]),
  producerId: 4_000_000_000_123n,
  producerEpoch: 32_766,
  snapshot: {
    key: 'shop/spend/0/abc.snapshot',
    sha256: 'abc',
    position: offsets([0, 100n]),
    changelogPosition: 77n,
    changelogTopicId: '9f9c1c52-6a5c-4f2e-8f5c-0d9a6b1f5e21',
    atMs: 1_767_225_500_000,
  },
  stopped: { code: 'OFFSET_MOVED', message: 'committed 5, remembered 4', atMs: 1_767_225_400_000 },
  wakeAtMs: 1_767_225_700_000,
  generation: 7,
  generationAtMs: 1_767_225_000_000,
  withdrawn: { above: 8, upTo: 9, atMs: 1_767_225_300_000 },
  withdrawnBefore: new Map([[4, 6]]),
}

describe('format 1 of the fence record', () => {
  test.each([
    ['full', full],
    ['new', fenceRecord()],
  ])('the stored form of a %s record never changes', (name, record) => {
    expect(encodeFence(record)).toEqual(stored(name))
    expect(decodeFence(stored(name))).toEqual(record)
  })

  test('64-bit offsets come back exactly', () => {
    expect(decodeFence(encodeFence(full)).committedUntil.get(0)).toBe(9_223_372_036_854_775_807n)
  })

  test('changes name only what they change', () => {
    expect(encodeFence({ dirty: false, owner: null })).toEqual({ dirty: { BOOL: false }, owner: { NULL: true } })
  })

  test('an attribute that a later version added is passed over', () => {
    expect(decodeFence({ ...encodeFence(full), colour: { S: 'red' } })).toEqual(full)
  })

  test('an absent nullable attribute reads as null', () => {
    const { wakeAtMs: _absent, withdrawn: _neither, withdrawnBefore: _nor, ...older } = encodeFence(full)
    expect(decodeFence(older)).toMatchObject({ wakeAtMs: null, withdrawn: null, withdrawnBefore: null })
  })

  test('a newer format is refused with both versions', () => {
    const newer = { ...encodeFence(full), formatVersion: { N: '2' } }
    expect(() => decodeFence(newer)).toThrow(/FORMAT_TOO_NEW: .*flights\.0 has format 2, this version reads up to 1/)
  })

  test.each([
    ['token', undefined, /token should be an integer, found nothing/],
    ['token', { S: '9' }, /token should be an integer, found \{"S":"9"\}/],
    ['token', { N: '9007199254740993' }, /token should be an integer below 2\^53/],
    ['lineage', { N: '1' }, /lineage should be a string/],
    ['dirty', { S: 'true' }, /dirty should be a boolean/],
    ['committedUntil', { N: '1' }, /committedUntil should be a map/],
    ['committedUntil', { M: { 0: { N: '1.5' } } }, /committedUntil\.0 should be an integer/],
    ['intent', { M: { stage: { S: 'sleep' } } }, /intent\.partition should be/],
    ['owner', { M: { nonce: { S: 'n' } } }, /owner\.container should be a string, found nothing/],
  ])('an attribute %s that somebody changed to %j is refused by name', (name, value, message) => {
    const item = { ...encodeFence(full), [name]: value } as StoredItem
    expect(() => decodeFence(item)).toThrow(message)
    expect(() => decodeFence(item)).toThrow(/FENCE_RECORD_INVALID/)
  })

  test('an unknown stage is refused with those that are known', () => {
    const { intent } = encodeFence(full)
    const item = { ...encodeFence(full), intent: { M: { ...(intent as { M: object }).M, stage: { S: 'sleep' } } } }
    expect(() => decodeFence(item as StoredItem)).toThrow(/intent\.stage should be read or transform or commit/)
  })
})
