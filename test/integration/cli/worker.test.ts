import { describe, expect, test } from 'vitest'
import { freePorts } from '../../../lib/local/ports.ts'
import type { CliRun } from '../../helpers/cli.ts'
import { moduleOf } from '../../helpers/fencepost-command.ts'
import { soon } from '../../helpers/fences.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { startWorker, until } from '../../helpers/workers.ts'

const partitions = 4
const all = Array.from({ length: partitions }, (_, partition) => partition)

async function world(): Promise<RelayWorld> {
  return relayWorld({ source: { partitions }, output: { partitions } })
}

async function produceEverywhere(place: RelayWorld, count: number): Promise<string[]> {
  return (await Promise.all(all.map((partition) => place.produce(count, partition)))).flat()
}

/** Records go to the output's partition of their own number, and keep their order there: sorted, they compare as sets. */
const delivers = (place: RelayWorld, values: readonly string[]) => async () =>
  (await place.delivered()).length >= values.length

/** Which process holds each lane now. */
async function holders(place: RelayWorld): Promise<(string | null)[]> {
  const records = await Promise.all(all.map((lane) => place.fences.read(place.lane(lane).transactionalId, soon())))
  return records.map((record) => record?.owner?.container ?? null)
}

const holds = (worker: CliRun) => (container: string | null) => container?.endsWith(`/${worker.child.pid}`) ?? false

describe('fencepost worker', { timeout: 120_000 }, () => {
  test('SIGTERM ends it with 0: what it has begun is committed, its lanes are free, and it says so', async () => {
    const place = await world()
    const worker = await startWorker(place, await moduleOf(place), ['--json'])
    const values = await produceEverywhere(place, 50)
    await until('all records are delivered', delivers(place, values))
    worker.child.kill('SIGTERM')
    const { code, stdout } = await worker.ended
    const lines = stdout.trim().split('\n')
    expect(code).toBe(0)
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ ok: true, relay: 'copy', drained: true })
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(
      expect.arrayContaining(['worker starts', 'worker ends']),
    )
    expect(await holders(place)).toEqual(all.map(() => null))
    expect((await place.delivered()).sort()).toEqual(values.sort())
  })

  test('two share the lanes; when one is killed the other takes them over: nothing is lost or doubled', async () => {
    const place = await world()
    const module = await moduleOf(place)
    const [first, second] = [await startWorker(place, module), await startWorker(place, module)]
    const values = await produceEverywhere(place, 10)
    await until(
      'each of them has two lanes',
      async () => {
        values.push(...(await produceEverywhere(place, 5)))
        const now = await holders(place)
        return [first, second].every((worker) => now.filter(holds(worker)).length === 2)
      },
      60_000,
    )
    first.child.kill('SIGKILL')
    await first.ended
    values.push(...(await produceEverywhere(place, 50)))
    await until(
      'the other has them all',
      async () => {
        values.push(...(await produceEverywhere(place, 5)))
        return (await holders(place)).every(holds(second))
      },
      60_000,
    )
    await until('all records are delivered', delivers(place, values))
    second.child.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0 })
    expect((await place.delivered()).sort()).toEqual(values.sort())
  })

  test('one that was paused while the other took its lanes over goes on beside it: nothing is lost or doubled', async () => {
    const place = await world()
    const module = await moduleOf(place)
    const paused = await startWorker(place, module)
    const values = await produceEverywhere(place, 20)
    await until('it has every lane', async () => (await holders(place)).every(holds(paused)))
    paused.child.kill('SIGSTOP')
    values.push(...(await produceEverywhere(place, 50)))
    const other = await startWorker(place, module)
    await until('the other has them all', async () => (await holders(place)).every(holds(other)))
    paused.child.kill('SIGCONT')
    await until(
      'both have some',
      async () => {
        values.push(...(await produceEverywhere(place, 5)))
        const now = await holders(place)
        return now.some(holds(paused)) && now.some(holds(other))
      },
      60_000,
    )
    await until('all records are delivered', delivers(place, values))
    for (const worker of [paused, other]) worker.child.kill('SIGTERM')
    expect([await paused.ended, await other.ended]).toMatchObject([{ code: 0 }, { code: 0 }])
    expect((await place.delivered()).sort()).toEqual(values.sort())
  })

  test('a window that outlasts --drain-within ends it with 1, uncommitted; the next worker relays it', async () => {
    const place = await world()
    const values = await place.produce(5)
    const slow = await startWorker(place, await moduleOf(place, { waitMs: 40_000 }), ['--drain-within', '1s'])
    await slow.untilSaid(/a record waits/)
    slow.child.kill('SIGTERM')
    expect(await slow.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('windows under way were left behind'),
    })
    expect(await place.delivered()).toEqual([])
    await startWorker(place, await moduleOf(place))
    await until('all records are delivered', delivers(place, values))
    expect(await place.delivered()).toEqual(values)
  })

  test('GET /healthz tells an orchestrator what it does', async () => {
    const place = await world()
    const [port] = await freePorts(1)
    const worker = await startWorker(place, await moduleOf(place), ['--health-port', String(port)])
    const values = await produceEverywhere(place, 10)
    await until('all records are delivered', delivers(place, values))
    const response = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ ok: true, stopping: false, crew: { workers: 1, rank: 0 } })
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  })

  test('a topic that is missing at its start ends it with 1 and is named', async () => {
    const place = await world()
    const module = await moduleOf({ ...place, names: { ...place.names, output: 'nowhere-at-all' } })
    const { code, stderr } = await (await startWorker(place, module)).ended
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("'nowhere-at-all'") })
  })
})
