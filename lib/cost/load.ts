import { type Problem, shown } from '../problems.ts'

/** What is to be relayed, on an average over the month. */
export interface Load {
  readonly recordsPerSecond: number
  readonly bytesPerRecord: number
  readonly partitions: number
  /** After which a record should be visible in the outputs. */
  readonly latencyMs: number
  /** Bytes and records written for each one read. */
  readonly outputFactor: number
  readonly memoryMb: number
  /** CPU time of the transform alone, on one whole core. */
  readonly transformMicros: number
  /** Availability zones over which the brokers are spread. */
  readonly zones: number
}

export const loadDefaults = {
  bytesPerRecord: 1_000,
  partitions: 6,
  latencyMs: 5_000,
  outputFactor: 1,
  memoryMb: 512,
  transformMicros: 5,
  zones: 3,
} as const satisfies Omit<Load, 'recordsPerSecond'>

interface Bounds {
  readonly option: string
  readonly least: number
  readonly most: number
  readonly whole: boolean
}

export const loadBounds: Readonly<Record<keyof Load, Bounds>> = {
  recordsPerSecond: { option: '--records-per-second', least: 0.001, most: 10_000_000, whole: false },
  bytesPerRecord: { option: '--bytes', least: 1, most: 10_485_760, whole: true },
  partitions: { option: '--partitions', least: 1, most: 10_000, whole: true },
  latencyMs: { option: '--latency', least: 0, most: 86_400_000, whole: true },
  outputFactor: { option: '--output-factor', least: 0, most: 1_000, whole: false },
  memoryMb: { option: '--memory', least: 128, most: 10_240, whole: true },
  transformMicros: { option: '--transform-us', least: 0, most: 1_000_000, whole: false },
  zones: { option: '--zones', least: 1, most: 6, whole: true },
}

/** All that is out of bounds, at once. */
export function loadProblems(load: Load): Problem[] {
  return (Object.keys(loadBounds) as (keyof Load)[]).flatMap((name) => {
    const { option, least, most, whole } = loadBounds[name]
    const value = load[name]
    if (value >= least && value <= most && (!whole || Number.isInteger(value))) return []
    const [from, to] = [least, most].map((bound) => bound.toLocaleString('en'))
    const wanted = `a ${whole ? 'whole number' : 'number'} from ${from} to ${to}`
    return [{ path: option, found: shown(value), wanted, fix: 'give another value' }]
  })
}
