import type { History } from './history.ts'

/** `topic/partition/offset` of a delivered record. */
export function deliveredPlace({ outputs }: History, output: number, at: number): string {
  const log = outputs[output]
  return `${log?.topic}/${log?.partition}/${log?.delivered.offset[at]}`
}

/** `topic/partition/offset` of the source record behind an expected one. */
export function sourcePlace({ sources, expected }: History, index: number): string {
  const log = sources[expected.source[index] ?? 0]
  return `${log?.topic}/${log?.partition}/${expected.offset[index]}`
}

/** `topic/partition` where an expected record belongs. */
export function outputPlace({ outputs, expected }: History, index: number): string {
  const log = outputs[expected.output[index] ?? -1]
  return log ? `${log.topic}/${log.partition}` : 'any output'
}
