import { judgeRecords } from '../visible.ts'
import type { Sabotage, World } from '../world.ts'
import { intercepted, isCall } from './intercept.ts'

/** Commits what consumers know: one past the last record that they were given, wherever the log goes on. */
export const commitsLastRecord: Sabotage = {
  cluster: (cluster, world) =>
    intercepted(cluster, (call, send) => {
      if (!isCall(call, 'TxnOffsetCommit')) return send(call)
      const topics = call.body.topics.map((topic) => ({
        ...topic,
        partitions: topic.partitions.map((one) => ({
          ...one,
          committedOffset: pastLastRecord(world, topic.name, one.partitionIndex, one.committedOffset),
        })),
      }))
      return send<'TxnOffsetCommit'>({ ...call, body: { ...call.body, topics } })
    }),
}

function pastLastRecord({ model }: World, topic: string, partition: number, until: bigint): bigint {
  const log = model.topics.partition(topic, partition)?.log
  const records = judgeRecords(log?.contents() ?? []).filter(({ record }) => record.offset < until)
  const last = records.findLast(({ fate }) => fate === 'committed')
  return last === undefined ? until : last.record.offset + 1n
}
