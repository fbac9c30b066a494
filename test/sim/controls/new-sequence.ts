import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { crc32c } from '../../../lib/kafka/crc32c.ts'
import type { RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import { header } from '../../../lib/kafka/record-batch/layout.ts'
import type { Sabotage } from '../world.ts'
import { intercepted, isCall } from './intercept.ts'

/** Gives a batch whose answer is missing a new place in the sequence: the broker cannot tell it from a new one. */
export const newSequence = {
  cluster(cluster: Cluster) {
    const seen = new Set<string>()
    const shifts = new Map<string, number>()
    const shifted = (batch: Buffer, place: string): Buffer => {
      const key = `${batch.readBigInt64BE(header.producerId)} ${batch.readInt16BE(header.producerEpoch)} ${place}`
      const batchKey = `${key} ${batch.readInt32BE(header.baseSequence)}`
      const isResend = seen.has(batchKey)
      seen.add(batchKey)
      const shift = (shifts.get(key) ?? 0) + (isResend ? batch.readInt32BE(header.recordCount) : 0)
      shifts.set(key, shift)
      return shift === 0 ? batch : withSequence(batch, batch.readInt32BE(header.baseSequence) + shift)
    }
    return intercepted(cluster, (call, send) => {
      if (!isCall(call, 'Produce')) return send(call)
      return send<'Produce'>({ ...call, body: eachBatch(call.body, shifted) })
    })
  },
} satisfies Sabotage

function eachBatch(body: RequestOf<'Produce'>, change: (batch: Buffer, place: string) => Buffer): RequestOf<'Produce'> {
  const topicData = body.topicData.map((topic) => ({
    ...topic,
    partitionData: topic.partitionData.map(({ index, records }) => ({
      index,
      records: records && change(records, `${topic.name}-${index}`),
    })),
  }))
  return { ...body, topicData }
}

function withSequence(batch: Buffer, sequence: number): Buffer {
  const copy = Buffer.from(batch)
  copy.writeInt32BE(sequence, header.baseSequence)
  copy.writeUInt32BE(crc32c(copy, header.attributes), header.crc)
  return copy
}
