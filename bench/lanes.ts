import { type LanesPlan, type LevelRun, lanesIn, measureLevel } from './lanes/level.ts'
import { valueBytes } from './numbered-records.ts'
import { quantile, rounded } from './statistics.ts'
import type { Surroundings } from './surroundings.ts'

export interface LanesOptions extends LanesPlan {
  /** Each is a run of its own. */
  readonly commitEveryMs: readonly number[]
  readonly signal: AbortSignal
  say(line: string): void
}

export interface LanesResult {
  /** Every level's source is relayed to its end and proven by the verifier. */
  readonly ok: boolean
  readonly lost: number
  readonly duplicated: number
  readonly levels: readonly LevelFigures[]
  readonly workload: LanesPlan & { readonly valueBytes: number; readonly inProcess: string }
}

export interface LevelFigures {
  readonly commitEveryMs: number
  readonly transactionsPerSecond: number
  /** What the lanes would do if their windows took no time. */
  readonly transactionsPerSecondAtMost: number
  /** Commit markers, of outputs and offsets. */
  readonly markersPerSecond: number
  readonly markersPerTransaction: number
  readonly recordsPerTransaction: number
  /** From the moment a record was due in the source until the marker that shows its output was written. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly requestsPerSecond: Readonly<Record<string, number>>
  readonly requestsPerTransaction: number
  readonly transactionStateBytesPerSecond: number
  readonly transactionStateBytesPerTransaction: number
  readonly consumerOffsetsBytesPerSecond: number
  readonly consumerOffsetsBytesPerTransaction: number
  readonly brokerSockets: number
  readonly brokerCpuCores: number
  readonly brokerCpuMsPerTransaction: number
  readonly relayCpuCores: number
  readonly relayCpuMsPerTransaction: number
  /** Of all containers' processes together, their peaks. */
  readonly relayRssMiB: number
  readonly records: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly verdict: string
}

/** Many lanes on one broker, in many warm containers that linger, at several rhythms. */
export async function lanes(place: Surroundings, options: LanesOptions): Promise<LanesResult> {
  const { partitions, partitionsPerLane, containers, processes, recordsPerSecond, keyed, seconds } = options
  const plan = { partitions, partitionsPerLane, containers, processes, recordsPerSecond, keyed, seconds }
  const { say, signal } = options
  const levels: LevelFigures[] = []
  for (const commitEveryMs of options.commitEveryMs) {
    say(`${lanesIn(plan)} lanes in ${containers} containers, a window every ${commitEveryMs} ms, for ${seconds} s`)
    const figures = figuresOf(await measureLevel(place, plan, commitEveryMs, signal))
    say(levelLine(figures))
    levels.push(figures)
  }
  const total = (of: (level: LevelFigures) => number) => levels.reduce((sum, level) => sum + of(level), 0)
  const inProcess = `${containers} containers in ${processes} processes, each with its own connections and fence store`
  return {
    ok: levels.every(({ verdict }) => verdict === 'proven'),
    lost: total(({ lost }) => lost),
    duplicated: total(({ duplicated }) => duplicated),
    levels,
    workload: { ...plan, valueBytes, inProcess },
  }
}

export const levelLine = (level: LevelFigures): string =>
  [
    `every ${level.commitEveryMs} ms: ${level.transactionsPerSecond} transactions/s`,
    `${level.markersPerSecond} markers/s`,
    `latency ${level.latencyMs.p50} ms p50, ${level.latencyMs.p99} ms p99`,
    `${level.brokerSockets} connections`,
    `${level.lost} lost, ${level.duplicated} duplicated (${level.verdict})`,
  ].join(', ')

function figuresOf(run: LevelRun): LevelFigures {
  const { before, after, output, offsets, proof, commitEveryMs } = run
  const spanSeconds = (after.atMs - before.atMs) / 1_000
  const transactions = offsets.markers
  const markers = output.markers + transactions
  const perSecond = (count: number) => rounded(count / spanSeconds, 1)
  const perTransaction = (count: number) => rounded(count / transactions)
  const requests = requestsBetween(run)
  const brokerCpu = after.cpuSeconds - before.cpuSeconds
  const relayCpu = after.relay.cpuSeconds - before.relay.cpuSeconds
  const stateBytes = after.transactionStateBytes - before.transactionStateBytes
  const offsetsBytes = after.consumerOffsetsBytes - before.consumerOffsetsBytes
  const latency = (share: number) => quantile(output.latenciesMs, share)
  return {
    commitEveryMs,
    transactionsPerSecond: perSecond(transactions),
    transactionsPerSecondAtMost: lanesAtMost(run),
    markersPerSecond: perSecond(markers),
    markersPerTransaction: perTransaction(markers),
    recordsPerTransaction: perTransaction(after.relay.records - before.relay.records),
    latencyMs: { p50: latency(0.5), p99: latency(0.99), max: latency(1) },
    requestsPerSecond: Object.fromEntries(requests.map(([api, count]) => [api, perSecond(count)])),
    requestsPerTransaction: perTransaction(requests.reduce((sum, [, count]) => sum + count, 0)),
    transactionStateBytesPerSecond: Math.round(stateBytes / spanSeconds),
    transactionStateBytesPerTransaction: perTransaction(stateBytes),
    consumerOffsetsBytesPerSecond: Math.round(offsetsBytes / spanSeconds),
    consumerOffsetsBytesPerTransaction: perTransaction(offsetsBytes),
    brokerSockets: after.sockets,
    brokerCpuCores: rounded(brokerCpu / spanSeconds),
    brokerCpuMsPerTransaction: perTransaction(brokerCpu * 1_000),
    relayCpuCores: rounded(relayCpu / spanSeconds),
    relayCpuMsPerTransaction: perTransaction(relayCpu * 1_000),
    relayRssMiB: Math.round(after.relay.rssMiB),
    records: proof.records,
    lost: proof.lost,
    duplicated: proof.duplicated,
    outOfOrder: proof.outOfOrder,
    verdict: proof.verdict,
  }
}

const lanesAtMost = ({ commitEveryMs, lanes }: LevelRun): number => rounded((lanes * 1_000) / commitEveryMs, 1)

/** The most frequent first; those that did not occur are left out. */
function requestsBetween({ before, after }: LevelRun): readonly (readonly [string, number])[] {
  const earlier = new Map(Object.entries(before.relay.requests))
  return Object.entries(after.relay.requests)
    .map(([api, count]) => [api, count - (earlier.get(api) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
}
