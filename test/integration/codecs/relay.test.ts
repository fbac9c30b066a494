/** A relay with registry codecs on a real broker and a real registry that fails at the wrong moment. */
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { avro } from '../../../lib/codecs/registry/avro.ts'
import { schemaRegistry } from '../../../lib/codecs/registry/http-registry.ts'
import { defineRelay, topic } from '../../../lib/index.ts'
import { startHttpFaults } from '../../../lib/local/http-faults.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
import { decoded, opened } from '../../helpers/registry-codecs.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { dynamoDbEndpoint, freshName, kafkaBrokers, registryUrl } from '../../helpers/stack.ts'
import { appendRecords } from '../../helpers/writing.ts'

interface Order {
  readonly id: string
  readonly total: number
}

beforeAll(async () => {
  await Promise.all([registryUrl(), kafkaBrokers('4.1'), dynamoDbEndpoint()])
})

/** Orders in, orders out with their total doubled; schemas come through a proxy that can fail. */
async function scene() {
  const url = new URL(await registryUrl())
  const faults = await startHttpFaults(url.origin)
  onTestFinished(() => faults.stop())
  const registry = schemaRegistry({ url: faults.endpoint + url.pathname, timeoutMs: 1_000 })
  const name = `Order${freshName('x').replaceAll('-', '')}`
  const fields = [
    { name: 'id', type: 'string' },
    { name: 'total', type: 'long' },
  ]
  const schema = { type: 'record', name, fields }
  const world = await relayWorld({
    define: ({ source, output, dead }) =>
      defineRelay({
        name: 'copy',
        source: topic(source, avro<Order>({ registry })),
        outputs: { doubled: topic(output, avro<Order>({ registry, schema, register: true })) },
        deadLetters: topic(dead),
        transform: ({ value }, { emit }) => emit.doubled({ ...value, total: 2 * value.total }),
      }),
  })
  const direct = schemaRegistry({ url: url.href })
  const place = { topic: world.names.source, use: 'both' } as const
  const writer = await opened(avro<Order>({ schema, register: true }), direct, place)
  const write = (...orders: (Order | Buffer)[]) =>
    appendRecords(
      world.cluster,
      { topic: world.names.source, partition: 0 },
      orders.map((order) => ({ value: Buffer.isBuffer(order) ? order : Buffer.from(writer.encode(order)) })),
    )
  const delivered = async () => {
    const reader = await opened(avro<Order>(), direct, { use: 'decode' })
    const records = await recordsCommitted(world.cluster, world.names.output, 1)
    return Promise.all(records.map(({ value }) => decoded(reader, value ?? Buffer.alloc(0))))
  }
  return { world, faults, write, delivered }
}

test('nothing is lost or rejected while the registry is away, and all goes on when it is back', async () => {
  const { world, faults, write, delivered } = await scene()
  const container = await world.container()
  await write({ id: 'a', total: 1 }, { id: 'b', total: 2 })
  faults.inject(() => 'refuse')
  expect(await failureOf(ring(container))).toMatchObject({ code: 'REGISTRY_UNAVAILABLE', disposition: 'retry' })
  expect(faults.seen).toBeGreaterThan(0)
  expect(await delivered()).toEqual([])
  expect(await world.buried()).toEqual([])

  faults.inject(() => 'pass')
  expect(onlyLane(await ring(container))).toMatchObject({ kind: 'done' })
  expect(await delivered()).toEqual([
    { id: 'a', total: 2 },
    { id: 'b', total: 4 },
  ])

  faults.inject(() => 'refuse')
  await write({ id: 'c', total: 3 })
  expect(onlyLane(await ring(container))).toMatchObject({ kind: 'done' })
  expect(faults.seen).toBe(0)
  expect(await delivered()).toHaveLength(3)
})

test('a bad payload is dead-lettered byte by byte, and its neighbours pass', async () => {
  const { world, write, delivered } = await scene()
  const container = await world.container()
  await write({ id: 'a', total: 1 }, Buffer.from('plain'), { id: 'b', total: 2 })
  expect(onlyLane(await ring(container))).toMatchObject({ kind: 'done' })
  expect(await delivered()).toHaveLength(2)
  expect(await world.buried()).toEqual(['plain'])
})
