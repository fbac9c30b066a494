import { string } from '../../lib/codecs/string.ts'
import { defineRelay } from '../../lib/relay/definition/define-relay.ts'
import { topic } from '../../lib/relay/definition/topic.ts'
import { commitGroup, transactionalId } from '../../lib/transaction/ids.ts'
import type { LanesPlan, Plan } from './plan.ts'

/**
 * What the records of a simulation say of themselves: `kind-partition-number`. The kind decides what the relay makes of
 * it, so that the judge knows the outputs without asking the relay.
 */
export const recordKinds = ['once', 'twice', 'dropped', 'rejected', 'poison'] as const
export type RecordKind = (typeof recordKinds)[number]

export const kindOf = (id: string): RecordKind => id.split('-')[0] as RecordKind

export const topics = { source: 'source', out: 'out', audit: 'audit', dead: 'dead' } as const
export const relayName = 'sim'
export const prefix = 'sim'
export const group = commitGroup(prefix, relayName)

export const laneIds = ({ sourcePartitions, partitionsPerLane }: LanesPlan): readonly string[] =>
  Array.from({ length: Math.ceil(sourcePartitions / partitionsPerLane) }, (_, lane) =>
    transactionalId(prefix, relayName, topics.source, lane),
  )

export function lanePartitions(id: string, { sourcePartitions, partitionsPerLane }: LanesPlan): readonly number[] {
  const first = Number(id.slice(id.lastIndexOf('.') + 1)) * partitionsPerLane
  const count = Math.min(partitionsPerLane, sourcePartitions - first)
  return Array.from({ length: count }, (_, index) => first + index)
}

/** Deaths alone after which a record is taken for poison. */
export const poisonAttempts = 3

export function simRelay({ lanes: { partitionsPerLane, windowRecords }, promise: { guarantee, read } }: Plan) {
  const relay = defineRelay({
    name: relayName,
    source: topic(topics.source, string(), { key: string() }),
    outputs: { out: topic(topics.out, string()), audit: topic(topics.audit, string()) },
    deadLetters: topic(topics.dead),
    partitionsPerLane,
    poisonAttempts,
    window: { records: windowRecords },
    commitEveryMs: 200,
    guarantee,
    transform(record, { emit }) {
      const kind = kindOf(record.value)
      if (kind === 'rejected') throw new Error('this record never passes')
      if (kind === 'dropped') return
      const options = { key: Buffer.from(record.key ?? '') }
      emit.out(record.value, options)
      if (kind === 'twice') emit.audit(record.value, options)
    },
  })
  return { ...relay, read }
}
