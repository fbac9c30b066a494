import { expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { ListOffsetsResponse } from '../../../lib/kafka/protocol/generated/list-offsets.ts'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { ModelWorld } from '../../helpers/model-world.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

const unknownServerError = -1

/** A cluster whose brokers fail at every ListOffsets. */
const withoutEnds = (cluster: Cluster): Cluster => ({
  clock: cluster.clock,
  clusterId: (...args) => cluster.clusterId(...args),
  brokers: (...args) => cluster.brokers(...args),
  transactionVersion: (...args) => cluster.transactionVersion(...args),
  topics: (...args) => cluster.topics(...args),
  locate: (...args) => cluster.locate(...args),
  forget: (...args) => cluster.forget(...args),
  close: () => cluster.close(),
  async request(target, api, ...rest) {
    const answer = await cluster.request(target, api, ...rest)
    return api === 'ListOffsets' ? { ...answer, body: failed(answer.body as ListOffsetsResponse) as never } : answer
  },
})

const failed = (body: ListOffsetsResponse): ListOffsetsResponse => ({
  ...body,
  topics: body.topics.map((topic) => ({
    ...topic,
    partitions: topic.partitions.map((partition) => ({ ...partition, errorCode: unknownServerError })),
  })),
})

test('a pull that cannot learn where the log ends does not call the lane drained', async () => {
  const world = new ModelWorld(2)
  world.produce(5)
  const { runtime } = await world.process()
  const blind = { ...runtime, cluster: withoutEnds(runtime.cluster) }
  const first = await world.run(runInvocation(runtime, pull, 'request', world.within(20_000)))
  expect(onlyLane(first)).toMatchObject({ kind: 'done' })
  world.produce(5)
  const ending = onlyLane(await world.run(runInvocation(blind, pull, 'request', world.within(20_000))))
  expect(ending).toMatchObject({ kind: 'failed', error: { code: 'BROKER_ERROR' } })
})
