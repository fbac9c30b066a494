import { type Authors, findAuthors } from '../authors.ts'
import { type Finding, Places, plural } from '../finding.ts'
import type { History, OutputLog } from '../history.ts'
import { type Matching, meaning } from '../match.ts'
import { deliveredPlace } from '../places.ts'

/**
 * 7. Unexplained: the relay wrote an output that no record of its source gives.
 *
 * Not asked where the source may have given it before the range that was read: until each source partition's outputs have
 * been met in an output partition, older ones may stand there. It cannot be told once compaction has removed records,
 * where the time that is judged is another one by the broker's clock, or whose a record outside of any transaction is.
 */
export function unexplainedRecords(history: History, matching: Matching): Finding {
  const authors = findAuthors(history, matching)
  const [certain, doubtful] = [new Places(), new Places()]
  eachUnexplained(history, matching, authors, (output, at, isOurs, mayBeOlder) => {
    if (!isOurs || mayBeOlder) return
    const { isDatedAnew = false, delivered } = history.outputs[output] ?? {}
    const isDoubtful = isCompacted(history) || isDatedAnew || (delivered?.transaction[at] ?? -1) < 0
    const places = isDoubtful ? doubtful : certain
    places.add(() => deliveredPlace(history, output, at))
  })
  const held = 'every output of the relay comes from a record of its source'
  const said = (count: number) => `${plural(count, 'output')} of the relay that no record of its source gives`
  return certain.count > 0
    ? certain.finding('unexplained', 'violated', held, said)
    : doubtful.finding('unexplained', 'unproven', held, (count) => `${said(count)}: ${whyGone(history)}`)
}

/**
 * 8. Foreign: records in the output topics that other producers wrote, or that older records of the source gave. They are
 * none of this relay's business, but whoever counts outputs will count them.
 */
export function foreignRecords(history: History, matching: Matching): Finding {
  const authors = findAuthors(history, matching)
  const places = new Places()
  eachUnexplained(history, matching, authors, (output, at, isOurs, mayBeOlder) => {
    if (!isOurs || mayBeOlder) places.add(() => deliveredPlace(history, output, at))
  })
  return places.finding(
    'foreign',
    'noted',
    'nobody else writes to the output topics',
    (count) => `${plural(count, 'record')} by other producers, or of older records of the source`,
  )
}

function eachUnexplained(
  history: History,
  { meanings, olderUntil }: Matching,
  authors: Authors,
  found: (output: number, at: number, isOurs: boolean, mayBeOlder: boolean) => void,
): void {
  for (const [output, log] of history.outputs.entries()) {
    const here = meanings[output] ?? new Int32Array()
    const olderHere = isCompacted(history) ? 0 : (olderUntil[output] ?? 0)
    for (let at = 0; at < here.length; at++) {
      if (here[at] === meaning.unexplained) found(output, at, isOurs(history, log, at, authors), at < olderHere)
    }
  }
}

/** Weaker guarantees write outside of transactions, where nobody can tell their records from those of others. */
function isOurs({ guarantee }: History, { delivered, transactions }: OutputLog, at: number, authors: Authors): boolean {
  const transaction = transactions[delivered.transaction[at] ?? -1]
  return transaction === undefined ? guarantee !== 'exactly-once' : authors.has(transaction.producerId)
}

const isCompacted = ({ sources }: History): boolean => sources.some(({ removed }) => removed > 0n)

function whyGone(history: History): string {
  if (isCompacted(history)) return 'compaction has removed records of it; verify before it does'
  return history.outputs.some(({ isDatedAnew }) => isDatedAnew)
    ? 'it may be older by its own date; verify without --last'
    : 'or of somebody else, who writes without transactions too'
}
