import { type Finding, Places, plural } from '../finding.ts'
import { type History, standing } from '../history.ts'
import { duplicate, type Matching, unexplained } from '../match.ts'

/**
 * 1. Lost: a record below the offset that was committed before the outputs were read, whose output readers cannot see.
 *
 * Beyond the committed offset nothing is lost, it is not relayed yet (check 8). Nor can a loss be told where readers are
 * held back by an open transaction, or where an output partition begins only after its retention has cut it: then the
 * missing records at its beginning, of each source partition, may have been there.
 */
export function lostRecords(history: History, { isDelivered }: Matching): Finding {
  const { expected } = history
  const places = new Places()
  for (let index = 0; index < expected.high.length; index++) {
    if (isDelivered[index] === 1 || expected.standing[index] !== standing.required) continue
    places.add(() => `${sourceOf(history, index)} is not in ${outputOf(history, index)}`)
  }
  return places.finding('lost', 'violated', (count) =>
    count === 0
      ? 'every record below the committed offsets has its outputs'
      : `${plural(count, 'output')} of committed records cannot be seen`,
  )
}

/** 2. Duplicated: more copies of an output are visible than the source gives. */
export function duplicatedRecords(history: History, { meaning }: Matching): Finding {
  const places = placesOf(history, meaning, duplicate)
  return places.finding('duplicated', 'violated', (count) =>
    count === 0 ? 'no output is there more often than the source gives it' : `${plural(count, 'output')} too many`,
  )
}

/** 3. Unexplained: a visible output that no record of the source gives, whoever wrote it. */
export function unexplainedRecords(history: History, { meaning }: Matching): Finding {
  const places = placesOf(history, meaning, unexplained)
  return places.finding('unexplained', 'violated', (count) =>
    count === 0 ? 'every output comes from a record of the source' : `${plural(count, 'output')} that no record gives`,
  )
}

/**
 * 4. Ahead: a visible output of a record whose offset is not committed: the two did not become visible together. Such a
 * record would be relayed again, and then be there twice.
 */
export function outputsAhead(history: History, { isDelivered }: Matching): Finding {
  const { expected } = history
  const places = new Places()
  for (let index = 0; index < expected.high.length; index++) {
    if (isDelivered[index] === 0 || expected.standing[index] !== standing.ahead) continue
    places.add(() => `${sourceOf(history, index)} is in ${outputOf(history, index)}`)
  }
  return places.finding('ahead', 'violated', (count) =>
    count === 0
      ? 'no output is visible before the offset of its record'
      : `${plural(count, 'output')} visible although the offsets of their records are not committed`,
  )
}

/**
 * 5. Order: in each output partition the outputs of one source partition stand in the order of the source, those of one
 * record in the order of its emits. Since a key has one source partition, this is also the order of each key.
 *
 * Not judged for equal records of which one is lost or duplicated, or which come from several source partitions.
 */
export function outOfOrder(history: History, { meaning, isOrderUnknown }: Matching): Finding {
  const places = new Places()
  for (const [output, meanings] of meaning.entries()) {
    const last = new Int32Array(history.sources.length).fill(-1)
    for (const [at, index] of meanings.entries()) {
      if (index < 0 || isOrderUnknown[index] === 1) continue
      const source = history.expected.source[index] ?? 0
      if (index > (last[source] ?? -1)) last[source] = index
      else
        places.add(
          () => `${placeOf(history, output, at)} follows a later record of ${sourceOf(history, last[source] ?? 0)}`,
        )
    }
  }
  return places.finding('outOfOrder', 'violated', (count) =>
    count === 0
      ? 'outputs stand in the order of their source partitions'
      : `${plural(count, 'output')} behind a later one`,
  )
}

function placesOf(history: History, meaning: Matching['meaning'], wanted: number): Places {
  const places = new Places()
  for (const [output, meanings] of meaning.entries()) {
    for (const [at, found] of meanings.entries()) if (found === wanted) places.add(() => placeOf(history, output, at))
  }
  return places
}

function placeOf({ outputs }: History, output: number, at: number): string {
  const log = outputs[output]
  return `${log?.topic}/${log?.partition}/${log?.delivered.offset[at]}`
}

function sourceOf({ sources, expected }: History, index: number): string {
  const log = sources[expected.source[index] ?? 0]
  return `${log?.topic}/${log?.partition}/${expected.offset[index]}`
}

function outputOf({ outputs, expected }: History, index: number): string {
  const log = outputs[expected.output[index] ?? -1]
  return log ? `${log.topic}/${log.partition}` : 'any output'
}
