import { findAuthors } from '../authors.ts'
import { isUnheardOf } from '../begun.ts'
import { type Finding, Places, plural } from '../finding.ts'
import { type History, standing } from '../history.ts'
import type { Matching } from '../match.ts'
import { outputPlace, sourcePlace } from '../places.ts'

/**
 * 5. Ahead: an output is visible although the offset of its record is not committed. The two did not become visible
 * together; the record would be relayed again. It cannot be told of outputs that somebody else may have written.
 */
export function outputsAhead(history: History, matching: Matching): Finding {
  const [certain, doubtful] = [new Places(), new Places()]
  for (const { index, isDoubtful } of aheadOutputs(history, matching)) {
    const places = isDoubtful ? doubtful : certain
    places.add(() => `${sourcePlace(history, index)}, in ${outputPlace(history, index)}`)
  }
  const held = 'no output is visible before the offset of its record'
  const said = (count: number) => `${plural(count, 'output')} visible, the offsets of their records not committed`
  const isPromised = history.guarantee === 'exactly-once'
  return certain.count > 0
    ? certain.finding('ahead', isPromised ? 'violated' : 'noted', held, said)
    : doubtful.finding(
        'ahead',
        isPromised ? 'unproven' : 'noted',
        held,
        (count) =>
          `${said(count)}: written by somebody else, or by the relay under another prefix? Of lanes that were idle for a week the table tells: give it`,
      )
}

interface AheadOutput {
  /** Of the expected record. */
  readonly index: number
  /** Nothing is known of its source partition, or its writer has written nothing else of the relay. */
  readonly isDoubtful: boolean
}

export function aheadOutputs(history: History, matching: Matching): readonly AheadOutput[] {
  const { expected, outputs, sources } = history
  const authors = findAuthors(history, matching)
  const unheardOf = sources.map((source) => isUnheardOf(history, source))
  const found: AheadOutput[] = []
  for (const [output, meanings] of matching.meanings.entries()) {
    const { delivered, transactions = [] } = outputs[output] ?? {}
    for (const [at, index] of meanings.entries()) {
      if (index < 0 || expected.standing[index] !== standing.ahead) continue
      const { producerId = -1n } = transactions[delivered?.transaction[at] ?? -1] ?? {}
      found.push({ index, isDoubtful: (unheardOf[expected.source[index] ?? 0] ?? true) || !authors.has(producerId) })
    }
  }
  return found
}
