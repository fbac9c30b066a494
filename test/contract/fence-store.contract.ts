/** What every FenceStore promises. Run on the memory store, on DynamoDB's emulator, and by whoever adds a store. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FenceRecord } from '../../lib/fencing/fence-record.ts'
import type { FenceCreate, FenceStore, FenceUpdate } from '../../lib/fencing/fence-store.ts'
import { fenceRecord, offsets, soon } from '../helpers/fences.ts'

let lanes = 0
/** Ids of one run of the suite are its own: stores may be shared. */
const freshId = () => `contract-${process.pid}-${++lanes}`

const create = (record: FenceRecord): FenceCreate => ({ kind: 'create', record, writer: record.owner?.nonce ?? '' })

function update(record: FenceRecord, over: Partial<FenceUpdate>): FenceUpdate {
  const nonce = record.owner?.nonce ?? null
  return {
    kind: 'update',
    id: record.id,
    expected: { token: record.token, nonce },
    revision: record.revision + 1,
    changes: {},
    writer: nonce ?? 'nobody',
    ...over,
  }
}

const taking = (record: FenceRecord, nonce: string): FenceUpdate =>
  update(record, {
    writer: nonce,
    changes: { token: record.token + 1, owner: { nonce, container: `container-${nonce}`, requestId: 'r' } },
  })

export function fenceStoreContract(name: string, make: () => Promise<FenceStore>): void {
  describe(`${name} keeps the promises of a fence store`, () => {
    let store: FenceStore
    beforeAll(async () => {
      store = await make()
    })
    afterAll(() => store.close())

    async function stored(over: Partial<FenceRecord> = {}): Promise<FenceRecord> {
      const result = await store.write(create(fenceRecord({ id: freshId(), ...over })), soon())
      if (result.kind !== 'written') throw new Error('a fresh id was taken')
      return result.record
    }

    test('a record that nobody wrote reads as null', async () => {
      expect(await store.read(freshId(), soon())).toBeNull()
    })

    test('a read sees what an acknowledged write wrote, and every field of it', async () => {
      const record = await stored({
        committedUntil: offsets([0, 9_223_372_036_854_775_807n], [7, 0n]),
        resetTo: offsets([0, 3n]),
        intent: { partition: 0, from: 4n, recordsMax: 8, stage: 'commit', deathsAlone: 0, startedAtMs: 5 },
        outputPartitions: new Map([['out.put', 3]]),
        producerId: 12n,
      })
      expect(await store.read(record.id, soon())).toEqual(record)
    })

    test('a write changes what it names and answers with the whole record', async () => {
      const record = await stored({ dirty: false })
      const result = await store.write(update(record, { changes: { dirty: true } }), soon())
      expect(result).toEqual({ kind: 'written', record: { ...record, dirty: true, revision: record.revision + 1 } })
    })

    test('of 16 texts under one id at once, one is remembered and everybody learns it, now and later', async () => {
      const id = `first/${freshId()}`
      const texts = Array.from({ length: 16 }, (_, index) => `text ${index}`)
      const answers = await Promise.all(texts.map((text) => store.rememberFirst(id, text, soon())))
      const [first] = answers
      expect(texts).toContain(first)
      expect(answers).toEqual(texts.map(() => first))
      expect(await store.rememberFirst(id, 'too late', soon())).toBe(first)
      expect(await store.rememberFirst(`${id}.other`, 'its own', soon())).toBe('its own')
    })

    test('of 16 that create at once, one wins and the others learn who', async () => {
      const id = freshId()
      const nonces = Array.from({ length: 16 }, (_, index) => `n${index}`)
      const results = await Promise.all(
        nonces.map((nonce) =>
          store.write(create(fenceRecord({ id, owner: { nonce, container: 'c', requestId: 'r' } })), soon()),
        ),
      )
      expectOneWinner(results)
    })

    test('of 16 that take the same record at once, one wins and the others learn who', async () => {
      const record = await stored({ owner: null, lastNonce: 'n' })
      const nonces = Array.from({ length: 16 }, (_, index) => `n${index}`)
      const results = await Promise.all(nonces.map((nonce) => store.write(taking(record, nonce), soon())))
      expect(expectOneWinner(results).token).toBe(record.token + 1)
    })

    test('a late write of an owner that was replaced is refused, and it learns who replaced it', async () => {
      const record = await stored()
      await store.write(taking(record, 'next'), soon())
      const late = await store.write(update(record, { revision: 99, changes: { dirty: true } }), soon())
      expect(late).toMatchObject({ kind: 'lost', record: { owner: { nonce: 'next' }, token: 2, dirty: false } })
    })

    test.each([
      ['token, higher', { expected: { token: 2, nonce: 'nonce-1' } }],
      ['token, lower', { expected: { token: 0, nonce: 'nonce-1' } }],
      ["owner's nonce", { expected: { token: 1, nonce: 'nonce-2' } }],
      ['absence of an owner', { expected: { token: 1, nonce: null } }],
      ['revision', { revision: 1, writer: 'nonce-2' }],
    ])('a write that expects another %s is refused and changes nothing', async (_, over) => {
      const record = await stored()
      const refused = await store.write(update(record, { ...over, changes: { attempts: 9 } }), soon())
      expect(refused).toEqual({ kind: 'lost', record })
      expect(await store.read(record.id, soon())).toEqual(record)
    })

    test('P14: an older write of the same owner that arrives late does not undo a newer one', async () => {
      const record = await stored()
      const older = update(record, { revision: 2, changes: { committedUntil: offsets([0, 10n]) } })
      const newer = update(record, { revision: 3, changes: { committedUntil: offsets([0, 20n]) } })
      await store.write(newer, soon())
      expect((await store.write(older, soon())).kind).toBe('lost')
      expect((await store.read(record.id, soon()))?.committedUntil).toEqual(offsets([0, 20n]))
    })

    test('P14: a write that is sent twice is written once and answered "written" twice', async () => {
      const record = await stored()
      const taken = taking(record, 'next')
      const results = [await store.write(taken, soon()), await store.write(taken, soon())]
      expect(results.map(({ kind }) => kind)).toEqual(['written', 'written'])
      expect(results[1]?.record).toMatchObject({ token: record.token + 1, revision: record.revision + 1 })
    })

    test('P14: a release that is sent twice is no loss', async () => {
      const record = await stored()
      const release = update(record, { changes: { owner: null, lastNonce: 'nonce-1' } })
      await store.write(release, soon())
      expect((await store.write(release, soon())).kind).toBe('written')
    })

    test('a repetition that comes after another owner is a loss', async () => {
      const record = await stored()
      const release = update(record, { changes: { owner: null, lastNonce: 'nonce-1' } })
      const released = await store.write(release, soon())
      if (released.record) await store.write(taking(released.record, 'next'), soon())
      expect(await store.write(release, soon())).toMatchObject({ kind: 'lost', record: { owner: { nonce: 'next' } } })
    })

    test('an update of a record that is gone is a loss without a winner, and makes none', async () => {
      const record = fenceRecord({ id: freshId() })
      expect(await store.write(update(record, { changes: { dirty: true } }), soon())).toEqual({
        kind: 'lost',
        record: null,
      })
      expect(await store.read(record.id, soon())).toBeNull()
    })

    test('a listing has every record of the prefix and no other', async () => {
      const prefix = freshId()
      const ids = Array.from({ length: 30 }, (_, index) => `${prefix}.lane.${index}`)
      await Promise.all(ids.map((id) => store.write(create(fenceRecord({ id })), soon())))
      await stored()
      const { records, unreadable } = await store.list(`${prefix}.`, soon())
      expect(records.map(({ id }) => id).sort()).toEqual(ids.sort())
      expect(unreadable).toEqual([])
    })
  })
}

type Results = readonly Awaited<ReturnType<FenceStore['write']>>[]

function expectOneWinner(results: Results): FenceRecord {
  const winners = results.filter(({ kind }) => kind === 'written')
  const [winner] = winners.map(({ record }) => record)
  expect(winners).toHaveLength(1)
  if (!winner) throw new Error('a winner without a record')
  for (const { record } of results) expect(record).toEqual(winner)
  return winner
}
