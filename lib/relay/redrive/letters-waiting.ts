import { deadlineIn } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { readPartitions } from '../../kafka/fetch.ts'
import type { KafkaRecord } from '../../kafka/record.ts'
import { seconds } from '../../units.ts'
import { type LaneFacts, readLaneFacts } from '../operator/lane-facts.ts'
import { lanesAt, relayTopics } from '../relay-topics.ts'
import type { RelayDeployment } from '../runtime.ts'
import { parseDeadLetter } from '../transform/dead-letter.ts'

export interface LettersWaiting {
  readonly letters: number
  /** Most frequent first. */
  readonly byCode: ReadonlyMap<string, number>
}

const readBytesMax = 1 << 22
const readMs = seconds(30)

/** Counts the letters of `relay` between where the redrive is and the end of the dead letter topic. Reads only. */
export async function lettersWaiting(redrive: RelayDeployment, relay: string): Promise<LettersWaiting> {
  const { clock } = redrive
  const deadline = deadlineIn(clock, readMs)
  const topics = await relayTopics(redrive, deadline, 'fresh')
  const { lanes } = await readLaneFacts(redrive, topics, lanesAt(redrive, topics), deadline)
  const byCode = new Map<string, number>()
  let letters = 0
  for (const lane of lanes) {
    for await (const records of recordsWaiting(redrive, lane, topics.sourceTopicId)) {
      for (const { headers } of records) {
        const letter = parseDeadLetter(headers)
        if (letter?.relay !== relay) continue
        letters++
        byCode.set(letter.errorCode, (byCode.get(letter.errorCode) ?? 0) + 1)
      }
    }
  }
  return { letters, byCode: new Map([...byCode].sort(([, a], [, b]) => b - a)) }
}

const unreadable = (place: string): RelayError =>
  new RelayError('BROKER_ERROR', `the log gives nothing at ${place}; try again`)

async function* recordsWaiting(
  { cluster, clock }: RelayDeployment,
  { id, partitions }: LaneFacts,
  topicId: string,
): AsyncGenerator<readonly KafkaRecord[]> {
  for (const { partition, position, logStart, stableEnd: until } of partitions) {
    const begin = position === null || position < logStart ? logStart : position
    for (let from = begin; from < until; ) {
      const ask = { topic: id.topic, topicId, partition, from, until, maxBytes: readBytesMax }
      const deadline = deadlineIn(clock, readMs)
      const [read] = await readPartitions(cluster, [ask], { maxBytes: readBytesMax, maxWaitMs: 100 }, deadline)
      if (read?.error) throw read.error
      yield read?.records ?? []
      if (!read || read.until === from) throw unreadable(`${id.topic}-${partition}@${from}`)
      from = read.until
    }
  }
}
