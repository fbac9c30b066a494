import { RelayError } from '../errors.ts'
import type { Answer } from '../kafka/cluster.ts'
import type { PartitionProduceResponse } from '../kafka/protocol/generated/produce.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { leaderOf } from './by-leader.ts'
import { mayTryAgain, type Sending } from './exchange.ts'
import { graver } from './gravest.ts'
import { type Judgement, judgeCode, notAnswered } from './judgement.ts'
import type { Silence } from './silence.ts'

/** One batch on its way: bytes stamped once, the same buffer in each resend. */
export interface Parcel extends TopicPartition {
  readonly bytes: Buffer
  readonly records: number
}

export interface Attempt {
  /** What must be sent again. */
  readonly again: readonly Parcel[]
  /** Why; undefined when nothing must. */
  readonly last: Silence | Judgement | undefined
}

/**
 * What one leader answered, partition by partition. All of it is heard before a failure is thrown, the gravest one.
 * @throws RelayError RECORD_TOO_LARGE, RECORD_INVALID, TOPIC_MISSING, NOT_AUTHORIZED, SESSION_FENCED, SESSION_POISONED
 */
export function judgeProduce(sending: Sending, parcels: readonly Parcel[], answer: Answer<'Produce'>): Attempt {
  const answered = answeredParts(answer)
  const again: Parcel[] = []
  let last: Judgement | undefined
  let failure: unknown
  for (const parcel of parcels) {
    const judgement = judgeParcel(parcel, answered)
    if (judgement.verdict === 'ok') continue
    if (judgement.relocate) sending.cluster.forget(leaderOf(parcel))
    try {
      if (judgement.verdict === 'refused') throw refused(sending, parcel, judgement, answered.get(tpKey(parcel)))
      mayTryAgain(sending, judgement)
    } catch (error) {
      failure = graver(failure, error)
    }
    again.push(parcel)
    last = judgement
  }
  if (failure !== undefined) throw failure
  return { again, last }
}

type Answered = ReadonlyMap<string, PartitionProduceResponse>

function answeredParts({ body }: Answer<'Produce'>): Answered {
  const parts = body.responses.flatMap(({ name, partitionResponses }) =>
    partitionResponses.map((part) => [tpKey({ topic: name, partition: part.index }), part] as const),
  )
  return new Map(parts)
}

function judgeParcel(parcel: Parcel, answered: Answered): Judgement {
  const part = answered.get(tpKey(parcel))
  const { topic, partition } = parcel
  return part
    ? judgeCode('Produce', part.errorCode, { topic, partition })
    : notAnswered('Produce', { topic, partition })
}

const MESSAGE_TOO_LARGE = 10

/** The broker will never take this batch. The transaction can be aborted, and its owner finds the record. */
function refused(
  { ledger }: Sending,
  parcel: Parcel,
  judgement: Judgement,
  part?: PartitionProduceResponse,
): RelayError {
  const tooLarge = judgement.code === MESSAGE_TOO_LARGE
  const why = part?.errorMessage ? `${judgement.name} (${part.errorMessage})` : judgement.name
  const fix = tooLarge ? "raise the topic's max.message.bytes or write smaller records" : 'mend the record or drop it'
  const size = `a batch of ${parcel.records} records, ${parcel.bytes.length} bytes`
  const error = new RelayError(
    tooLarge ? 'RECORD_TOO_LARGE' : 'RECORD_INVALID',
    `${tpKey(parcel)} refuses ${size}: ${why}; ${fix}`,
    {
      context: {
        topic: parcel.topic,
        partition: parcel.partition,
        batchBytes: parcel.bytes.length,
        batchRecords: parcel.records,
        brokerCode: judgement.code,
        brokerMessage: part?.errorMessage ?? null,
        recordIndexes: part?.recordErrors.map((record) => record.batchIndex) ?? [],
      },
    },
  )
  return ledger.doubt(error)
}
