import { expect, test } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import { BatchBuilder } from '../../../lib/kafka/record-batch/encode.ts'
import { attribute, header } from '../../../lib/kafka/record-batch/layout.ts'
import { deadLetterForms } from '../../../lib/relay/transform/dead-letter.ts'
import { contentIdentity } from '../../../lib/verify/identity.ts'
import { Progress } from '../../../lib/verify/progress.ts'
import { readOutput } from '../../../lib/verify/read-output.ts'
import { fetchAnswer, fetchedPartition } from '../../helpers/fetch-answers.ts'
import { plainIdentity } from '../../helpers/kafka-client.ts'
import { logBatch, resign } from '../../helpers/log-batches.ts'
import { record } from '../../helpers/relay-window.ts'
import { ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

const topicId = '00000000-0000-0000-0000-000000000001'

/** Reads two records of an output partition. */
async function read(
  records: Buffer,
  { isDeadLetters = false, sinceMs }: { isDeadLetters?: boolean; sinceMs: number | null },
) {
  const partition = fetchedPartition({ highWatermark: 2n, lastStableOffset: 2n, records })
  const cluster = new ScriptedCluster({ Fetch: () => fetchAnswer(topicId, [partition]) }, [topic('out', topicId, [1])])
  const range = { topic: 'out', topicId, partition: 0, from: 0n, until: 2n, output: 0 }
  const identity = contentIdentity('copy', isDeadLetters ? 'out' : null)
  const progress = new Progress(cluster.clock, () => undefined)
  return cluster.run(() => readOutput(cluster, { ...range, isDeadLetters, sinceMs }, identity, progress))
}

const plainBatch = () => logBatch({ baseOffset: 0n, deltas: [0, 1] })

function datedByBroker(): Buffer {
  const batch = plainBatch()
  batch.writeInt16BE(attribute.logAppendTime, header.attributes)
  return resign(batch)
}

test('an output that its broker dates is known by its batches, and matters when a time is judged', async () => {
  expect(await read(datedByBroker(), { sinceMs: 0 })).toMatchObject({ isDatedAnew: true })
  expect(await read(datedByBroker(), { sinceMs: null })).toMatchObject({ isDatedAnew: false })
  expect(await read(plainBatch(), { sinceMs: 0 })).toMatchObject({ isDatedAnew: false })
})

/** Of a record that its writer has dated far ahead, and of an old one. The letters themselves are dated otherwise. */
function letters(): Buffer {
  const builder = new BatchBuilder({ maxBytes: 10_000 })
  const error = new RelayError('RECORD_INVALID', 'its timestamp is out of bounds')
  const dates = [
    [9_000, 1_000],
    [10, 6_000],
  ] as const
  for (const [offset, [sourceMs, letterMs]] of dates.entries()) {
    const source = record('{}', { offset: BigInt(offset), timestampMs: sourceMs })
    const [form] = deadLetterForms({ relay: 'copy', source, error, attempt: 1 })
    if (form) builder.tryAppend({ ...form, timestampMs: letterMs })
  }
  return builder.build(plainIdentity)
}

test('a dead letter belongs to the time of its record; those of any time say which records must not be transformed', async () => {
  const { delivered, deadLetters } = await read(letters(), { isDeadLetters: true, sinceMs: 5_000 })
  expect([...delivered.offset]).toEqual([0])
  expect(deadLetters.map(({ offset }) => offset)).toEqual([0n, 1n])
})

test('dead letters that their broker dates are dated by their records all the same', async () => {
  expect(await read(datedByBroker(), { isDeadLetters: true, sinceMs: 0 })).toMatchObject({ isDatedAnew: false })
})
