import type { TriggerKind } from '../../infra/settings.ts'
import { triggerOf } from '../../infra/trigger.ts'
import { settings } from '../relay/config/settings.ts'
import { sumOf, type Usage } from './bill.ts'
import { assumptions, figures } from './figures.ts'
import type { Load } from './load.ts'
import { deploymentUsage, steadyMetrics } from './surroundings.ts'
import {
  coreShare,
  coresBusy,
  crossZoneGb,
  hoursPerMonth,
  type Invocation,
  invocationOf,
  secondsPerMonth,
  tailedWindowsPerSecond,
} from './work.ts'

/** Four triggers by their names in serverless.yml, and what there is besides functions. */
export type WayName = TriggerKind | 'worker' | 'flink'

/** One way to get the load relayed. */
export interface Way {
  readonly name: WayName
  readonly usage: Usage
  /** From a record in the source to its outputs before a read_committed reader; 99 of 100 are quicker, containers warm. */
  readonly p99Ms: number
  /** Of what its busiest part can take at most, 1 is all. */
  readonly busy: number
}

/** All ways side by side, each set as the deployment would set it for the latency asked for. */
export const waysFor = (load: Load): readonly Way[] => [
  schedule(load),
  onDemand(load),
  lingering(load),
  provisioned(load),
  worker(load),
  managedFlink(load),
]

const networkMs = assumptions.networkMsPerBell + assumptions.networkMsPerWindow
/** Acquire and release. */
const writesPerOpenLane = 2
const renewalsPerSecond = 1_000 / Number(settings.renewEveryMs.byDefault)
const commitReserveMs = Number(settings.commitReserveMs.byDefault)
/** `commitEveryMs` of a relay that says nothing else. */
const commitEveryMs = 1_000

/** Busy is a whole function: a pull relays all lanes in one. */
function schedule(load: Load): Way {
  const trigger = triggerOf({ latency: load.latencyMs, trigger: 'pull', pollers: undefined })
  const everySeconds = trigger.kind === 'pull' ? trigger.everyMinutes * 60 : 60
  const records = load.recordsPerSecond * everySeconds
  const each = invocationOf(records, load.partitions, load)
  const runSeconds =
    each.waitingSeconds + (coresBusy(load, each.windows / everySeconds) * everySeconds) / coreShare(load.memoryMb)
  return {
    name: 'pull',
    usage: sumOf(deploymentUsage(load), bells(load, 1 / everySeconds, each), { crossZoneGb: crossZoneGb(load, 1) }),
    p99Ms: everySeconds * 990 + runSeconds * 1_000 + figures.windowP99Ms + networkMs,
    busy: runSeconds / everySeconds,
  }
}

function onDemand(load: Load): Way {
  const trigger = triggerOf({ latency: load.latencyMs, trigger: 'events', pollers: undefined })
  const windowSeconds = trigger.kind === 'events' ? trigger.batchingWindowSeconds : 0
  const mapped = mapping(load, windowSeconds, pollersFor(load))
  return {
    name: 'events',
    usage: mapped.usage,
    p99Ms: windowSeconds * 1_000 + assumptions.mappingMs + figures.bellP99Ms + networkMs,
    busy: mapped.busy,
  }
}

function provisioned(load: Load): Way {
  const { pollersPerUnit, bytesPerSecondPerUnit, invocationsPerPoller } = assumptions
  const pollers = pollersFor(load)
  const bytesPerSecond = load.recordsPerSecond * load.bytesPerRecord
  const units = Math.max(Math.ceil(pollers / pollersPerUnit), Math.ceil(bytesPerSecond / bytesPerSecondPerUnit))
  const mapped = mapping(load, 0, Math.min(load.partitions, pollers * invocationsPerPoller))
  return {
    name: 'provisioned',
    usage: sumOf(mapped.usage, { epuHours: units * hoursPerMonth }),
    p99Ms: assumptions.provisionedMappingMs + figures.bellP99Ms + networkMs,
    busy: mapped.busy,
  }
}

/** Pollers that the bytes need; never more than there are partitions. */
function pollersFor({ recordsPerSecond, bytesPerRecord, partitions }: Load): number {
  const needed = Math.ceil((recordsPerSecond * bytesPerRecord) / assumptions.pollerBytesPerSecond)
  return Math.min(partitions, Math.max(1, needed))
}

/**
 * `streams` rows of events, one after another: a batch begins with its first record, waits for its window and is then at
 * work, unless it is full before. Busy is a lane: its windows come after each other, whoever relays them.
 */
function mapping(load: Load, windowSeconds: number, streams: number): { readonly usage: Usage; readonly busy: number } {
  const perStream = load.recordsPerSecond / streams
  const lanes = load.partitions / streams
  const { eventBytesMax, eventOverhead } = assumptions
  const batchMax = Math.max(1, Math.min(10_000, eventBytesMax / (load.bytesPerRecord * eventOverhead)))
  const alone = invocationOf(1, lanes, load).waitingSeconds
  const bellsPerSecond = Math.max(perStream / batchMax, 1 / (windowSeconds + alone + 1 / perStream))
  const each = invocationOf(perStream / bellsPerSecond, lanes, load)
  return {
    usage: sumOf(deploymentUsage(load), bells(load, streams * bellsPerSecond, each), {
      crossZoneGb: crossZoneGb(load, 2),
    }),
    busy: coresBusy(load, streams * bellsPerSecond * each.windows) / coreShare(load.memoryMb) / load.partitions,
  }
}

/** What invocations take, `perSecond` of them, with the CPU time of all records. */
function bells(load: Load, perSecond: number, { lanes, windows, waitingSeconds }: Invocation): Usage {
  const invocations = perSecond * secondsPerMonth
  const cpuSeconds = (coresBusy(load, perSecond * windows) / coreShare(load.memoryMb)) * secondsPerMonth
  return {
    lambdaRequests: invocations,
    lambdaGbSeconds: ((invocations * waitingSeconds + cpuSeconds) * load.memoryMb) / 1_024,
    dynamoDbWrites: invocations * lanes * writesPerOpenLane,
    logGb: (invocations * assumptions.logBytesPerInvocation) / 1e9,
  }
}

/**
 * A function that is always there: it ends shortly before its minute does, and until the next one has begun nobody looks.
 * A lane is opened by its first record in that minute and held to the end of it.
 */
function lingering(load: Load): Way {
  const everySeconds = 60
  const gapMs = commitReserveMs + commitEveryMs + figures.windowMs + assumptions.scheduleMs
  const invocations = secondsPerMonth / everySeconds
  const perLane = load.recordsPerSecond / load.partitions
  const opened = 1 - Math.exp(-perLane * everySeconds)
  const heldSeconds = everySeconds - opened / perLane
  const lanes = load.partitions * invocations
  return {
    name: 'linger',
    usage: sumOf(deploymentUsage(load), {
      lambdaRequests: invocations,
      lambdaGbSeconds: (secondsPerMonth * load.memoryMb) / 1_024,
      dynamoDbWrites: lanes * (opened * writesPerOpenLane + heldSeconds * renewalsPerSecond),
      dynamoDbReads: lanes * opened,
      logGb: (invocations * assumptions.logBytesPerInvocation) / 1e9,
      crossZoneGb: crossZoneGb(load, 1),
    }),
    p99Ms: Math.max(commitEveryMs, gapMs - everySeconds * 10) + figures.windowP99Ms + networkMs,
    busy: coresBusy(load, tailedWindowsPerSecond(load, commitEveryMs)) / coreShare(load.memoryMb),
  }
}

const workerShiftSeconds = 15
const workerMetricsEverySeconds = 10
const crewEverySeconds = Number(settings.leaseMs.byDefault) / 1_000

/**
 * As many as the CPU needs, and no reserve: Fargate's smallest sizes first, then whole cores. A lane is opened by a record
 * and held for a shift; each worker has a row of its own, and looks for the others'.
 */
function worker(load: Load): Way {
  const busy = coresBusy(load, tailedWindowsPerSecond(load, commitEveryMs))
  const cores = busy / assumptions.busyMax
  const workers = Math.max(1, Math.ceil(cores))
  const [vcpus, gb] = cores <= 0.25 ? [0.25, 0.5] : cores <= 0.5 ? [0.5, 1] : [workers, 2 * workers]
  const shiftsPerSecond = load.partitions / (workerShiftSeconds + load.partitions / load.recordsPerSecond)
  const writesPerShift = writesPerOpenLane + workerShiftSeconds * renewalsPerSecond
  return {
    name: 'worker',
    usage: sumOf(steadyMetrics, {
      fargateVcpuHours: vcpus * hoursPerMonth,
      fargateGbHours: gb * hoursPerMonth,
      dynamoDbWrites: (shiftsPerSecond * writesPerShift + workers * renewalsPerSecond) * secondsPerMonth,
      dynamoDbReads: (workers / crewEverySeconds) * secondsPerMonth,
      logGb: ((secondsPerMonth / workerMetricsEverySeconds) * assumptions.logBytesPerInvocation) / 1e9,
      crossZoneGb: crossZoneGb(load, 1),
    }),
    p99Ms: commitEveryMs + figures.windowP99Ms + assumptions.networkMsPerWindow,
    busy: busy / load.partitions,
  }
}

/** Its smallest application that keeps up, with the unit for orchestration. */
function managedFlink(load: Load): Way {
  const { flinkCpuFactor, flinkCheckpointMs, flinkGbPerUnit, busyMax } = assumptions
  const units = Math.max(1, Math.ceil((coresBusy(load, 0) * flinkCpuFactor) / busyMax))
  return {
    name: 'flink',
    usage: {
      kpuHours: (units + 1) * hoursPerMonth,
      flinkStorageGbMonths: units * flinkGbPerUnit,
      crossZoneGb: crossZoneGb(load, 1),
    },
    p99Ms: flinkCheckpointMs,
    busy: 0,
  }
}
