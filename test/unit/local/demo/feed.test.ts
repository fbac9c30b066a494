import { beforeAll, expect, test } from 'vitest'
import { createCluster } from '../../../../lib/kafka/kafka-cluster.ts'
import { partitionFor } from '../../../../lib/kafka/partitioner.ts'
import { Feed } from '../../../../lib/local/demo/feed.ts'
import { type Flights, readFlights } from '../../../../lib/local/demo/flights.ts'
import { sourceRecord } from '../../../../lib/local/demo/source-record.ts'
import { ClusterModel } from '../../../../lib/testing/broker-model/cluster-model.ts'
import { type Faults, ModelTransport } from '../../../../lib/testing/broker-model/model-transport.ts'
import { committedRecords } from '../../../../lib/testing/output-log.ts'
import { seededRandom } from '../../../../lib/testing/seeded-random.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'

const [topic, partitions, count, durationMs] = ['flights', 4, 2_000, 20_000]
let flights: Flights
beforeAll(async () => {
  flights = await readFlights(count)
})

function scene(faults: Faults = {}) {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const model = new ClusterModel({ clock, random })
  model.createTopic({ name: topic, partitions })
  const cluster = createCluster(new ModelTransport(model, faults), clock, random)
  const feed = new Feed(cluster, flights, { topic, partitions, durationMs })
  const over = new AbortController()
  return { clock, feed, model, over, run: () => feed.run(random, over.signal) }
}

test('every flight is in the log once: in its key’s partition, in the order of the file', async () => {
  const { clock, model, run } = scene()
  await clock.run(run())
  const wanted = Array.from({ length: count }, (_, index) => sourceRecord(flights.at(index), index))
  const places = Map.groupBy(wanted, ({ key }) => partitionFor({ key, sourcePartition: 0, partitionCount: partitions }))
  const found = Map.groupBy(committedRecords(model, topic), ({ partition }) => partition)
  expect(found.size).toBe(partitions)
  for (const [partition, records] of found) {
    expect(records.map(({ value }) => value)).toEqual(places.get(partition)?.map(({ value }) => value))
  }
})

test('it counts what must become of the flights that were acknowledged', async () => {
  const { clock, feed, run } = scene()
  await clock.run(run())
  const wanted = { late: 0, onTime: 0, dead: 0 }
  for (let index = 0; index < count; index++) wanted[sourceRecord(flights.at(index), index).fate]++
  expect(feed.counts).toEqual(wanted)
  expect(feed.sent).toBe(count)
})

test('they arrive evenly over the whole time', async () => {
  const { clock, feed, run } = scene()
  const began = clock.now()
  const done = run()
  for (const quarter of [1, 2, 3]) {
    await clock.advance(durationMs / 4)
    expect(Math.abs(feed.sent - (quarter * count) / 4)).toBeLessThan(20)
  }
  await clock.run(done)
  expect(clock.now() - began).toBeGreaterThanOrEqual(durationMs - 100)
  expect(clock.now() - began).toBeLessThan(durationMs + 1_000)
})

test('lost answers of the broker make no second copies', async () => {
  let lost = 0
  const { clock, model, run } = scene({
    afterEffect: ({ api }) => (api === 'Produce' && lost++ % 7 === 3 ? 'cut' : 'pass'),
  })
  await clock.run(run())
  expect(lost).toBeGreaterThan(20)
  expect(committedRecords(model, topic)).toHaveLength(count)
})

test('it stops when told, with the reason', async () => {
  const { clock, feed, over, run } = scene()
  const ended = expect(run()).rejects.toThrow('enough')
  await clock.advance(durationMs / 2)
  over.abort(new Error('enough'))
  await ended
  expect(feed.sent).toBeLessThan(count)
})
