import { assumptions, figures } from './figures.ts'
import type { Load } from './load.ts'

export const hoursPerMonth = 730
export const secondsPerMonth = hoursPerMonth * 3_600

/** Of a whole core, for one record: what the engine takes, half of it for reading and half for each output, and the transform. */
export function cpuSecondsPerRecord({ bytesPerRecord, outputFactor, transformMicros }: Load): number {
  const { cpuMicrosPerRecord, cpuMicrosPerByte, recordBytes } = figures
  const ofOne = Math.max(0, cpuMicrosPerRecord + (bytesPerRecord - recordBytes) * cpuMicrosPerByte)
  return ((ofOne * (1 + outputFactor)) / 2 + transformMicros) / 1_000_000
}

/** Cores that the load keeps busy, relayed in so many windows. */
export const coresBusy = (load: Load, windowsPerSecond: number): number =>
  load.recordsPerSecond * cpuSecondsPerRecord(load) + (windowsPerSecond * figures.windowCpuMs) / 1_000

/** Of lanes that tail: each commits `everyMs` after the record that came first. */
export const tailedWindowsPerSecond = ({ recordsPerSecond, partitions }: Load, everyMs: number): number =>
  partitions / (everyMs / 1_000 + partitions / recordsPerSecond)

/** Of a core, for a function with this memory. Its one thread gains nothing from more than one. */
export const coreShare = (memoryMb: number): number => Math.min(1, memoryMb / assumptions.mbPerCore)

/** Limits of a window (docs/reference): 7,000 records or 8 MiB. */
const windowRecordsMax = 7_000
const windowBytesMax = 8_388_608

/** What one invocation does whose lanes have gathered so many records between them. */
export interface Invocation {
  /** Lanes that have any, on an average. */
  readonly lanes: number
  readonly windows: number
  /** Billed, without CPU time. */
  readonly waitingSeconds: number
}

/**
 * Lanes go on side by side, windows of a lane after each other. With `records` strewn over `lanes`, a lane is left without
 * one with the probability e^-(records / lanes).
 */
export function invocationOf(records: number, lanes: number, { bytesPerRecord }: Load): Invocation {
  const each = records / lanes
  const perWindow = Math.max(1, Math.min(windowRecordsMax, windowBytesMax / bytesPerRecord))
  const further = Math.max(0, each / perWindow - 1)
  const active = lanes * (1 - Math.exp(-each))
  const someWork = 1 - Math.exp(-records)
  const { bellMs, windowMs, idleBellMs } = figures
  const { networkMsPerBell, networkMsPerWindow } = assumptions
  const firstMs = bellMs + networkMsPerBell + networkMsPerWindow - idleBellMs
  const ms = idleBellMs + someWork * firstMs + further * (windowMs + networkMsPerWindow)
  return { lanes: active, windows: active + lanes * further, waitingSeconds: ms / 1_000 }
}

/** GB a month between brokers and whatever relays, `reads` times in and once out. */
export function crossZoneGb({ recordsPerSecond, bytesPerRecord, outputFactor, zones }: Load, reads: number): number {
  const gbPerMonth = (recordsPerSecond * bytesPerRecord * secondsPerMonth) / 1e9
  return gbPerMonth * (reads + outputFactor) * ((zones - 1) / zones)
}
