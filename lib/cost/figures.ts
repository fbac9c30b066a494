/**
 * What a relay takes. Measured here on real brokers (bench/results; a test holds these figures to them), except for what
 * only AWS could tell: those are assumed, and say so. docs/operations/cost.md lists them all.
 */
export const figures = {
  /** Of one whole core, for a record of `recordBytes`, from fetch to commit, fencing on; no transform. */
  cpuMicrosPerRecord: 1.9,
  recordBytes: 200,
  /** Of it, what grows with the size of a record: the same run with 1,800 bytes a record. */
  cpuMicrosPerByte: 0.0036,
  /** Billed time of a bell with one small window: look, fence, fetch, transaction, release. Mean. */
  bellMs: 9,
  /** Each further window of a lane. Mean. */
  windowMs: 6,
  windowP99Ms: 14,
  /** CPU of a window beside its records, on a whole core (docs/operations/sizing.md). */
  windowCpuMs: 1.4,
  /** From the bell to the function's answer. */
  bellP99Ms: 18,
  /** A bell, or a scheduled pull, that finds nothing. */
  idleBellMs: 10,
} as const

/** Not measured: there was no AWS account to measure them in. */
export const assumptions = {
  /** Two writes to DynamoDB and what is asked of brokers in other zones, beyond the same on one machine. */
  networkMsPerBell: 25,
  /** Acknowledgements of in-sync replicas in other zones. */
  networkMsPerWindow: 15,
  /** What an event source mapping on demand, or a provisioned one, adds to its window. AWS names 100 ms for the latter. */
  mappingMs: 500,
  provisionedMappingMs: 100,
  /** From a schedule's minute to the first look. */
  scheduleMs: 500,
  /** A full core, beyond which a function's one thread gains nothing (AWS Lambda guide, "Configure memory"). */
  mbPerCore: 1_769,
  /** The busiest that a lane, a function or a worker should be on an average. */
  busyMax: 0.6,
  /** Lines of the platform and metrics, for each invocation. */
  logBytesPerInvocation: 1_300,
  /** AWS Lambda guide: what an event may hold, as base64 in JSON; what a poller reads a second. */
  eventBytesMax: 6_000_000,
  eventOverhead: 1.4,
  pollerBytesPerSecond: 5_000_000,
  invocationsPerPoller: 5,
  pollersPerUnit: 10,
  bytesPerSecondPerUnit: 20_000_000,
  /** Flink takes three times our CPU for the same (bench/peers); its default checkpoint interval is what readers wait for. */
  flinkCpuFactor: 3,
  flinkCheckpointMs: 60_000,
  flinkGbPerUnit: 50,
} as const
