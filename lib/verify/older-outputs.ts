import type { History } from './history.ts'

/**
 * Where outputs of records may stand that the source has no more. A source partition's are in order: behind the first
 * output that is certainly of the range stands none of a record before it. Compaction takes records from anywhere.
 */
export class OlderOutputs {
  /** For each output partition and source partition. */
  private readonly untils: readonly (readonly number[])[]

  /** `heads` has for each delivered record an expected one of its content, or -1; `isCertain` says whether that is all there is. */
  constructor({ sources, expected }: History, heads: readonly Int32Array[], isCertain: (head: number) => boolean) {
    const waits = sources.map(({ before, removed }) => before !== 'start' || removed > 0n)
    this.untils = heads.map((found) => {
      const untils = waits.map((isWaiting) => (isWaiting ? found.length : 0))
      const waiting = new Set([...untils.keys()].filter((source) => waits[source] && sources[source]?.removed === 0n))
      for (let at = 0; at < found.length && waiting.size > 0; at++) {
        const head = found[at] ?? -1
        if (head < 0 || !isCertain(head) || !waiting.delete(expected.source[head] ?? 0)) continue
        untils[expected.source[head] ?? 0] = at
      }
      return untils
    })
  }

  /** Index of a delivered record; `source` is null for whichever. */
  until(output: number, source: number | null): number {
    const untils = this.untils[output] ?? []
    return source === null ? Math.max(0, ...untils) : (untils[source] ?? 0)
  }
}
