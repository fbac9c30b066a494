import { systemClock } from '../../clock.ts'
import type { OnProgress } from '../../verify/progress.ts'
import type { VerifyReport } from '../../verify/report.ts'
import { verifyRelay } from '../../verify/verify-relay.ts'
import type { DemoProgress } from './progress.ts'
import { prefix, relay } from './relay-deployment.ts'
import { relayFlights } from './relay-flights.ts'
import { type DemoResult, type OutputCount, outputCounts, resultOf } from './result.ts'
import { type SetUp, type SetUpOptions, setUp } from './set-up.ts'

export interface DemoOptions extends SetUpOptions {
  /** The flights arrive spread over so long. */
  readonly arrivalMs: number
  /** Containers killed per minute; 0: none. */
  readonly killsPerMinute: number
  progress(progress: DemoProgress): void
  /** How far the proof has read. */
  readonly reading: OnProgress
}

export interface DemoOutcome {
  readonly result: DemoResult
  readonly report: VerifyReport
  readonly counts: readonly OutputCount[]
  readonly last: DemoProgress
  /** Of the largest container. */
  readonly containerBytesMax: number
  readonly logDir: string
}

/**
 * Starts everything, relays flights while containers are killed, stops the functions, and proves from the log that every
 * flight was relayed once and in order. Nothing is left running, however it ends.
 *
 * @throws RelayError LOCAL_STACK when it cannot start; the signal's reason when it is aborted
 */
export async function runDemo(options: DemoOptions): Promise<DemoOutcome> {
  const its = await setUp(options)
  try {
    const beganMs = systemClock.now()
    const { last, fed, seen, containerBytesMax } = await relayFlights(its, options)
    await its.deployment.host.stop()
    options.say('reading everything back from the log')
    const report = await prove(its, options)
    const counts = outputCounts(relay, fed, seen)
    const result = resultOf(report, counts, last, (systemClock.now() - beganMs) / 1_000)
    return { result, report, counts, last, containerBytesMax, logDir: its.stack.logDir }
  } finally {
    await its.stop()
  }
}

function prove({ fences, connect }: SetUp, { reading, signal }: DemoOptions): Promise<VerifyReport> {
  const onProgress: OnProgress = (progress) => {
    signal.throwIfAborted()
    reading(progress)
  }
  return verifyRelay({ relay, prefix, cluster: connect('demo-verify'), fences, complete: true, onProgress })
}
