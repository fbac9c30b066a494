import type { Cluster } from '../kafka/cluster.ts'
import { tpKey } from '../kafka/record.ts'
import type { OutputLog } from './history.ts'
import type { Identity } from './identity.ts'
import { least, type Offsets, offsetsAt } from './positions.ts'
import type { Progress } from './progress.ts'
import { type DeadLetterOrigin, readOutput } from './read-output.ts'
import { holdingProducers } from './read-transactions.ts'
import { askDeadline, type Scope } from './scope.ts'

export interface OutputsAsk {
  readonly scope: Scope
  /** The dead letter topic. */
  readonly deadLetters: string | null
  /** High watermarks from after the committed offsets were read. */
  readonly ends: Offsets
  /** Last stable offsets: as far as readers can see. */
  readonly stable: Offsets
  readonly sinceMs: number | null
  readonly identity: Identity
}

export interface OutputsRead {
  readonly logs: readonly OutputLog[]
  readonly deadLetters: readonly DeadLetterOrigin[]
}

/** Every output partition, one after the other. */
export async function readOutputs(cluster: Cluster, ask: OutputsAsk, progress: Progress): Promise<OutputsRead> {
  const { scope, sinceMs, identity } = ask
  const starts = await offsetsAt(cluster, scope.outputs, 'earliest')
  const froms = sinceMs === null ? starts : await offsetsAt(cluster, scope.outputs, sinceMs)
  const logs: OutputLog[] = []
  const deadLetters: DeadLetterOrigin[] = []
  for (const [output, place] of scope.outputs.entries()) {
    const { topic, partition, topicId } = place
    const at = (offsets: Offsets) => offsets.get(tpKey(place)) ?? 0n
    const [end, stable] = [at(ask.ends), at(ask.stable)]
    const isDeadLetters = topic === ask.deadLetters
    const range = { topic, partition, from: at(froms), until: least(stable, end) }
    const asked = { ...range, topicId, output, isDeadLetters, sinceMs, ...(isDeadLetters && { from: at(starts) }) }
    const read = await readOutput(cluster, asked, identity, progress)
    const heldBy = range.until < end ? await holdingProducers(cluster, place, askDeadline(cluster.clock)) : []
    const { deadLetters: letters, ...log } = read
    logs.push({ ...range, ...log, logStart: at(starts), end, heldBy })
    for (const letter of letters) deadLetters.push(letter)
  }
  return { logs, deadLetters }
}
