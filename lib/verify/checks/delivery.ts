import { type Finding, figure, Places, plural } from '../finding.ts'
import { type History, standing } from '../history.ts'
import { type Matching, meaning } from '../match.ts'
import { type Excuse, eachMissing, mayHide } from '../missing.ts'
import { deliveredPlace, outputPlace, sourcePlace } from '../places.ts'
import { aheadOutputs } from './ahead.ts'

/**
 * 1. Count: as many records are visible as the source gives. The plainest question, asked apart from what became of each
 * single record, so that a mistake there cannot hide.
 */
export function recordCount(history: History, matching: Matching): Finding {
  const { meanings } = matching
  const { standing: standings } = history.expected
  const required = countOf(standings, standing.required)
  const most = required + countOf(standings, standing.allowed)
  const visible = history.outputs.reduce((all, { delivered }) => all + delivered.high.length, 0)
  const strange = [meaning.unexplained, meaning.duplicateOrOlder]
  const delivered = visible - strange.reduce((all, one) => all + sum(meanings.map((found) => countOf(found, one))), 0)
  const count = Math.max(required - delivered, delivered - most, 0)
  const detail = `${figure(required)} expected, ${figure(delivered)} visible`
  return {
    check: 'count',
    status: countStatus(history, matching, required - delivered, delivered - most),
    count,
    detail,
    examples: [],
  }
}

function countStatus(history: History, matching: Matching, missing: number, surplus: number): Finding['status'] {
  if (surplus > 0) return surplusStatus(history, matching, surplus)
  if (missing <= 0) return 'held'
  if (history.guarantee === 'none') return 'noted'
  return mayHide(history) ? 'unproven' : 'violated'
}

function surplusStatus(history: History, matching: Matching, surplus: number): Finding['status'] {
  if (history.guarantee !== 'exactly-once') return 'noted'
  const doubtful = aheadOutputs(history, matching).filter(({ isDoubtful }) => isDoubtful)
  return surplus > doubtful.length ? 'violated' : 'unproven'
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

function countOf(numbers: Int32Array | Uint8Array, wanted: number): number {
  let count = 0
  for (const number of numbers) if (number === wanted) count++
  return count
}

/**
 * 2. Lost: a record below the offset that was committed before the outputs were read, whose output readers cannot see.
 * Beyond that offset nothing is lost: it is not relayed yet (12).
 */
export function lostRecords(history: History, matching: Matching): Finding {
  const places = new Places()
  eachMissing(history, matching, (index, excuse) => {
    if (excuse === null) places.add(() => `${sourcePlace(history, index)}, not in ${outputPlace(history, index)}`)
  })
  const status = history.guarantee === 'none' ? 'noted' : 'violated'
  return places.finding(
    'lost',
    status,
    'every committed record has its outputs',
    (count) => `${plural(count, 'output')} of committed records missing`,
  )
}

const advice: Readonly<Record<Excuse, string>> = {
  'held back': 'an open transaction holds readers back: wait for its end, or end it, and verify again',
  expired: 'the outputs have been cut by retention: verify a shorter time with --last',
  'before the start': 'where the relay started is not known: verify a time after its start with --last',
  'dated anew': 'the broker of the output dates records by its own clock: verify without --last',
  compacted:
    'compaction has removed records of the output topic: verify before it does, or by a topic that is not compacted',
}

/** 3. Unseen: an output that cannot be seen although it may not be lost: whoever proves must not guess. */
export function unseenRecords(history: History, matching: Matching): Finding {
  const places = new Places()
  const reasons = new Set<string>()
  eachMissing(history, matching, (index, excuse) => {
    if (excuse === null) return
    reasons.add(advice[excuse])
    places.add(() => `${sourcePlace(history, index)}, not in ${outputPlace(history, index)} (${excuse})`)
  })
  return places.finding(
    'unseen',
    'unproven',
    'nothing is hidden from the verifier',
    (count) => `${plural(count, 'output')} cannot be seen now: ${[...reasons].join('; ')}`,
  )
}

/**
 * 20. Hidden: where copies could hide although everything is there: behind an open transaction, whosesoever, or among what
 * compaction has removed. Only exactly-once promises that there are none.
 */
export function hiddenOutputs({ outputs, guarantee }: History): Finding {
  const places = new Places()
  for (const { topic, partition, until, end, removed } of guarantee === 'exactly-once' ? outputs : []) {
    const problem =
      until < end
        ? `readers see up to ${until}, the log ends at ${end}`
        : `compaction has removed ${plural(Number(removed), 'record')}`
    if (until < end || removed > 0n) places.add(() => `${topic}/${partition}: ${problem}`)
  }
  return places.finding(
    'hidden',
    'unproven',
    'no copy can hide in the outputs',
    (count) =>
      `copies could hide in ${plural(count, 'output partition')}: verify again when no transaction is open, or a topic that is not compacted`,
  )
}

/**
 * 4. Duplicated: more copies of an output are visible than the source gives, whoever wrote them. It cannot be told where
 * the copy may be the output of an equal record before the range.
 */
export function duplicatedRecords(history: History, { meanings }: Matching): Finding {
  const [copies, doubtful] = [new Places(), new Places()]
  for (const [output, found] of meanings.entries()) {
    for (let at = 0; at < found.length; at++) {
      if (found[at] === meaning.duplicate) copies.add(() => deliveredPlace(history, output, at))
      if (found[at] === meaning.duplicateOrOlder) doubtful.add(() => deliveredPlace(history, output, at))
    }
  }
  const [certain, uncertain] =
    history.guarantee === 'exactly-once' ? (['violated', 'unproven'] as const) : (['noted', 'noted'] as const)
  const held = 'no output is there more often than the source gives it'
  return copies.count > 0
    ? copies.finding('duplicated', certain, held, (count) => `${plural(count, 'output')} too many`)
    : doubtful.finding(
        'duplicated',
        uncertain,
        held,
        (count) => `${plural(count, 'output')} too many, or of equal records that the source has no more`,
      )
}

/**
 * 6. Order: in each output partition the outputs of one source partition stand in the order of the source, those of one
 * record in the order of its emits. A key of the source has one partition, so this is also the order of each key.
 *
 * With guarantee `none` a write of a function that died may arrive behind those of its successor.
 */
export function outOfOrder(history: History, { meanings, isOrderUnknown }: Matching): Finding {
  const places = new Places()
  const { source: sources } = history.expected
  for (const [output, found] of meanings.entries()) {
    const last = new Int32Array(history.sources.length).fill(-1)
    for (let at = 0; at < found.length; at++) {
      const index = found[at] ?? -1
      if (index < 0 || isOrderUnknown[index] === 1) continue
      const source = sources[index] ?? 0
      const before = last[source] ?? -1
      if (index > before) last[source] = index
      else
        places.add(() => `${deliveredPlace(history, output, at)} follows a later one (${sourcePlace(history, before)})`)
    }
  }
  return places.finding(
    'outOfOrder',
    history.guarantee === 'none' ? 'noted' : 'violated',
    'outputs stand in the order of their source partitions',
    (count) => `${plural(count, 'output')} behind later ones`,
  )
}
