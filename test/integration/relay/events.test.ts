import { describe, expect, test } from 'vitest'
import { countingFenceStore } from '../../helpers/counting-fence-store.ts'
import { soon } from '../../helpers/fences.ts'
import { copyRelay, type Names, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, failureOf, onlyLane, refusalOf, ring } from '../../helpers/ringing.ts'

describe('an event that is not for this relay', () => {
  test('names another topic: refused before anything is touched', async () => {
    const { container, produce, names, delivered, fences, lane } = await relayWorld()
    const values = await produce(3)
    const runtime = await container()
    const refusal = await refusalOf(ring(runtime, eventOf('somebody.elses', 0, 2)))
    expect(refusal).toMatchObject({ code: 'EVENT_INVALID', disposition: 'fix-config' })
    expect(refusal.message).toContain(`of topic 'somebody.elses', relay 'copy' reads '${names.source}'`)
    expect(refusal.message).toContain("connect the trigger to the relay's own source topic")
    expect(await fences.read(lane().transactionalId, soon())).toBeNull()
    expect(await ring(runtime)).toMatchObject({ ok: true })
    expect(await delivered()).toEqual(values)
  })

  test('names a partition that the source does not have: refused', async () => {
    const { container, produce, names, delivered } = await relayWorld()
    const values = await produce(3)
    const runtime = await container()
    const refusal = await refusalOf(ring(runtime, eventOf(names.source, 0, 2, 7)))
    expect(refusal).toMatchObject({ code: 'EVENT_INVALID', disposition: 'fix-config' })
    expect(refusal.message).toContain(`partition 7 of '${names.source}' is not known: it has 1`)
    expect(refusal.message).toContain('is the event of another cluster?')
    expect(await ring(runtime, eventOf(names.source, 0, 2))).toMatchObject({ ok: true })
    expect(await delivered()).toEqual(values)
  })

  test('names offsets beyond the end of the log: what is there is relayed, the answer is failure', async () => {
    const { container, produce, names, delivered } = await relayWorld()
    const values = await produce(3)
    const failure = await failureOf(ring(await container(), eventOf(names.source, 998, 1000)))
    expect(failure).toMatchObject({ code: 'EVENT_INVALID', disposition: 'fix-config' })
    expect(failure.message).toContain(`offset 1000 of ${names.source} partition 0, whose log ends at 3`)
    expect(failure.message).toContain('is the trigger connected to another cluster?')
    expect(await ring(await container())).toMatchObject({ ok: true })
    expect(await delivered()).toEqual(values)
  })
})

describe('an event that says less, or other, than the log', () => {
  test('wholly relayed before: success without a barrier and without touching the fence', async () => {
    const { container, produce, names, delivered, fences } = await relayWorld()
    const values = await produce(5)
    await ring(await container(), eventOf(names.source, 0, 4))
    const counting = countingFenceStore(fences)
    const again = await ring(await container({ fences: counting }), eventOf(names.source, 0, 4))
    expect(onlyLane(again)).toMatchObject({ kind: 'done', windows: 0 })
    expect({ reads: counting.reads, writes: counting.writes }).toEqual({ reads: 0, writes: [] })
    expect(await delivered()).toEqual(values)
  })

  test('partly relayed before: only the rest is relayed', async () => {
    const { container, produce, names, delivered } = await relayWorld()
    const first = await produce(3)
    await ring(await container(), eventOf(names.source, 0, 2))
    const rest = await produce(4)
    expect(onlyLane(await ring(await container(), eventOf(names.source, 1, 6)))).toMatchObject({ kind: 'done' })
    expect(await delivered()).toEqual([...first, ...rest])
  })

  test('a gap before it, left by a lost event, is read from the log', async () => {
    const { container, produce, names, delivered } = await relayWorld()
    const first = await produce(5)
    await ring(await container(), eventOf(names.source, 0, 4))
    const unannounced = await produce(5)
    const last = await produce(5)
    await ring(await container(), eventOf(names.source, 10, 14))
    expect(await delivered()).toEqual([...first, ...unannounced, ...last])
  })

  test("with startAt 'event' the first one says where the relay begins, and never again", async () => {
    const startAtEvent = (names: Names) => ({ ...copyRelay(names), startAt: 'event' as const })
    const { container, produce, names, delivered } = await relayWorld({ define: startAtEvent })
    await produce(5)
    const values = await produce(10)
    await ring(await container(), eventOf(names.source, 5, 9))
    values.push(...(await produce(5)))
    await ring(await container(), eventOf(names.source, 18, 19))
    expect(await delivered()).toEqual(values)
  })
})

test.each(['4.1', '3.9'] as const)(
  'five functions with the same event at once relay it once, Kafka %s',
  async (version) => {
    const { container, produce, names, delivered } = await relayWorld({ version })
    const values = await produce(200)
    const runtimes = await Promise.all(Array.from({ length: 5 }, () => container()))
    const reports = await Promise.all(runtimes.map((runtime) => ring(runtime, eventOf(names.source, 0, 199))))
    expect(reports.map(({ ok }) => ok)).toEqual([true, true, true, true, true])
    expect(await delivered()).toEqual(values)
  },
)
