import { type History, type OutputLog, type SourceLog, standing } from './history.ts'
import type { Matching } from './match.ts'

/** Why a committed record's output may not be seen although it was not lost. */
export type Excuse =
  /** An open transaction holds readers back before the end of the partition. */
  | 'held back'
  /** Retention has cut the beginning of the output, and nothing of this source partition before it is left there. */
  | 'expired'
  /** The relay started somewhere behind the source's beginning, and nothing before it was ever relayed. */
  | 'before the start'
  /** Compaction has removed records of this output. */
  | 'compacted'
  /** Its broker may have dated it before the time that is judged. */
  | 'dated anew'

/** Calls back with each expected record that must be there and is not; `excuse` is null for a loss. */
export function eachMissing(
  history: History,
  matching: Matching,
  missing: (index: number, excuse: Excuse | null) => void,
): void {
  const { expected } = history
  const { isDelivered } = matching
  const excuseOf = excuses(history, matching)
  for (let index = 0; index < isDelivered.length; index++) {
    if (isDelivered[index] === 1 || expected.standing[index] !== standing.required) continue
    missing(index, excuseOf(index))
  }
}

function excuses(history: History, matching: Matching): (index: number) => Excuse | null {
  const { expected, outputs, sources } = history
  const { isSourceUnknown } = matching
  const first = firstDelivered(history, matching)
  const all = [...outputs.keys()]
  const anywhere = knowledgeOf(outputs)
  const knowledge = outputs.map((log) => knowledgeOf([log]))
  const isAnyStartUnknown = sources.some(isStartUnknown)
  return (index) => {
    const source = expected.source[index] ?? 0
    const place = expected.output[index] ?? -1
    const isAnyones = isSourceUnknown[index] === 1
    const isCutIn = (output: number) =>
      knowledge[output]?.isCut && (isAnyones || index < first.inOutput(source, output))
    const { isHeldBack, isCompacted, isDatedAnew } = knowledge[place] ?? anywhere
    if (isHeldBack) return 'held back'
    if (isCompacted) return 'compacted'
    if (isDatedAnew) return 'dated anew'
    if (place < 0 ? all.some(isCutIn) : isCutIn(place)) return 'expired'
    if (isAnyones ? isAnyStartUnknown : isStartUnknown(sources[source]) && index < first.ofSource(source))
      return 'before the start'
    return null
  }
}

/** Whether anything of what must be there may be hidden from the verifier at all. */
export function mayHide({ outputs, sources }: History): boolean {
  return Object.values(knowledgeOf(outputs)).includes(true) || sources.some(isStartUnknown)
}

const knowledgeOf = (outputs: readonly OutputLog[]) => ({
  isHeldBack: outputs.some(({ until, end }) => until < end),
  isCompacted: outputs.some(({ removed }) => removed > 0n),
  isDatedAnew: outputs.some((log) => log.isDatedAnew),
  isCut: outputs.some(({ from, logStart }) => logStart > 0n && from === logStart),
})

const isStartUnknown = (source: SourceLog | undefined): boolean => source?.before === 'unknown start'

/** The first record that is known to be of a source partition, in each output partition and in all. */
function firstDelivered({ expected, sources }: History, { meanings, isSourceUnknown }: Matching) {
  const nothing = expected.high.length
  const inOutputs = meanings.map((found) => {
    const first = new Int32Array(sources.length).fill(nothing)
    for (const index of found) {
      if (index < 0 || isSourceUnknown[index] === 1) continue
      const source = expected.source[index] ?? 0
      first[source] = Math.min(first[source] ?? nothing, index)
    }
    return first
  })
  return {
    inOutput: (source: number, output: number): number => inOutputs[output]?.[source] ?? nothing,
    ofSource: (source: number): number => Math.min(...inOutputs.map((first) => first[source] ?? nothing), nothing),
  }
}
