import type { Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { describeMachine, type Machine } from './machine.ts'
import { type Surroundings, startSurroundings } from './surroundings.ts'

export interface Reporting {
  readonly signal: AbortSignal
  /** Progress, to stderr. */
  say(line: string): void
}

/** Runs one benchmark on a broker of its own (`config` on top of its properties), stopped afterwards, and says on what machine it ran. */
export async function inSurroundings<Result extends object>(
  kafka: KafkaVersion,
  terminal: Terminal,
  benchmark: (place: Surroundings, reporting: Reporting) => Promise<Result>,
  config?: Readonly<Record<string, string>>,
): Promise<Result & { readonly machine: Machine }> {
  const say = (line: string): void => terminal.err(`bench: ${line}`)
  const machine = describeMachine(kafka, process.argv.slice(2))
  say(`starting Kafka ${kafka} on ${machine.cores} cores (load ${machine.loadBefore})`)
  const place = await startSurroundings(kafka, terminal.interrupted, config)
  try {
    return { ...(await benchmark(place, { signal: terminal.interrupted, say })), machine }
  } finally {
    await place.stop()
  }
}
