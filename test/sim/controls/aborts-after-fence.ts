import { crc32c } from '../../../lib/kafka/crc32c.ts'
import type { Api } from '../../../lib/kafka/protocol/generated/index.ts'
import { header } from '../../../lib/kafka/record-batch/layout.ts'
import type { Sabotage } from '../world.ts'
import { type Call, intercepted, isCall, type Send } from './intercept.ts'

const fencedCodes = [47, 90]

/**
 * Aborts when it is told that it was fenced, as clients do after any error, and goes on with the epoch that the abort gives
 * it: alive again beside its successor (P4).
 */
export const abortsAfterFence: Sabotage = {
  cluster(cluster, { journal }) {
    const revived = new Map<bigint, number>()
    return intercepted(cluster, async (call, send) => {
      const producer = producerOf(call)
      if (producer === null) return send(call)
      const answer = await send(lifted(call, revived.get(producer.producerId) ?? 0))
      if (!isFenced(answer.body)) return lowered(call, answer, revived.get(producer.producerId) ?? 0)
      const epoch = await abort(call, producer, (revived.get(producer.producerId) ?? 0) + producer.producerEpoch, send)
      if (epoch === null) return answer
      revived.set(producer.producerId, epoch - producer.producerEpoch)
      journal.note('control', `${call.api} fenced in epoch ${producer.producerEpoch}, revived in ${epoch}`)
      return lowered(call, await send(lifted(call, epoch - producer.producerEpoch)), epoch - producer.producerEpoch)
    })
  },
}

interface Producer {
  readonly transactionalId: string
  readonly producerId: bigint
  readonly producerEpoch: number
}

function producerOf(call: Call): Producer | null {
  if (isCall(call, 'TxnOffsetCommit') || isCall(call, 'EndTxn') || isCall(call, 'AddOffsetsToTxn')) return call.body
  if (isCall(call, 'AddPartitionsToTxn')) {
    const { v3AndBelowTransactionalId: transactionalId, ...body } = call.body
    return { transactionalId, producerId: body.v3AndBelowProducerId, producerEpoch: body.v3AndBelowProducerEpoch }
  }
  if (!isCall(call, 'Produce') || !call.body.transactionalId) return null
  const batch = call.body.topicData[0]?.partitionData[0]?.records
  if (!batch) return null
  return {
    transactionalId: call.body.transactionalId,
    producerId: batch.readBigInt64BE(header.producerId),
    producerEpoch: batch.readInt16BE(header.producerEpoch),
  }
}

/** Error codes stand at different depths; the names of their fields end alike. */
function isFenced(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return false
  return Object.entries(body).some(([name, value]) =>
    name.endsWith('rrorCode') ? fencedCodes.includes(Number(value)) : isFenced(value),
  )
}

async function abort(call: Call, producer: Producer, epoch: number, send: Send): Promise<number | null> {
  const { body } = await send({
    target: { to: 'transaction-coordinator', key: producer.transactionalId },
    api: 'EndTxn',
    body: {
      transactionalId: producer.transactionalId,
      producerId: producer.producerId,
      producerEpoch: epoch,
      committed: false,
    },
    deadline: call.deadline,
    options: { minVersion: 5 },
  })
  return body.errorCode === 0 && body.producerId === producer.producerId ? body.producerEpoch : null
}

/** The call with the epoch that the session really has. */
function lifted(call: Call, by: number): Call {
  if (by === 0) return call
  if (isCall(call, 'Produce')) {
    const topicData = call.body.topicData.map((topic) => ({
      ...topic,
      partitionData: topic.partitionData.map(({ index, records }) => ({
        index,
        records: records && raised(records, by),
      })),
    }))
    return { ...call, body: { ...call.body, topicData } }
  }
  const body: Record<string, unknown> = { ...call.body }
  for (const name of ['producerEpoch', 'v3AndBelowProducerEpoch']) {
    if (typeof body[name] === 'number') body[name] = Number(body[name]) + by
  }
  return { ...call, body: body as unknown as Call['body'] }
}

function raised(batch: Buffer, by: number): Buffer {
  const copy = Buffer.from(batch)
  copy.writeInt16BE(copy.readInt16BE(header.producerEpoch) + by, header.producerEpoch)
  copy.writeUInt32BE(crc32c(copy, header.attributes), header.crc)
  return copy
}

/** The answer with the epoch that the engine counts on. */
function lowered<A extends Api>(call: Call<A>, answer: Awaited<ReturnType<Send>>, by: number) {
  if (call.api !== 'EndTxn' || by === 0) return answer
  const body: Record<string, unknown> = { ...answer.body }
  if (typeof body.producerEpoch === 'number') body.producerEpoch = body.producerEpoch - by
  return { ...answer, body: body as unknown as typeof answer.body }
}
