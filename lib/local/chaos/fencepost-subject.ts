import { extname, join } from 'node:path'
import { lanesOf } from '../../relay/lane-id.ts'
import { deployRelay, functionHost } from '../deploy-relay.ts'
import { type Poller, startPoller } from '../esm-poller/poller.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'
import { startSchedule } from '../schedule.ts'
import { type BellDial, duplicateBells, overlap } from './faults/bells.ts'
import { functionTimeout } from './faults/function-timeout.ts'
import { killFunction } from './faults/kill-function.ts'
import { pauseFunction } from './faults/pause-function.ts'
import { rebalance } from './faults/rebalance.ts'
import { FunctionsAtWork } from './functions-at-work.ts'
import type { RunningSubject, Subject } from './subject.ts'
import { partitions, prefix, relay, type Surroundings } from './surroundings.ts'

const [onEvents, onSchedule] = [relay.name, `${relay.name}-pull`]
const functionTimeoutMs = 12_000
const pullEveryMs = 2_000

const lanes = lanesOf(Array(partitions).keys(), partitions, {
  prefix,
  relay: relay.name,
  topic: relay.sourceTopic,
  partitionsPerLane: relay.partitionsPerLane,
})

/** What was bundled, before any container runs it. */
export interface RelayBundle {
  /** The relay's. */
  readonly module: string
  readonly trigger: 'relay' | 'pull'
  readonly dir: string
}

/**
 * The real bundle in real processes: behind an event source mapping, and behind a schedule that takes over what it finds
 * free. A control may bundle something else in its place.
 */
export function fencepostSubject(name: string, bundled: (bundle: RelayBundle) => Promise<unknown>): Subject {
  return {
    name,
    relayedBy: 'fencepost',
    async start(around) {
      const host = functionHost(around.stack)
      try {
        await deploy(host, around, bundled)
        return await attach(host, around)
      } catch (error) {
        await host.stop()
        throw error
      }
    },
  }
}

export const fencepost: Subject = fencepostSubject('fencepost', async () => undefined)

async function deploy(
  host: LambdaHost,
  around: Surroundings,
  bundled: (bundle: RelayBundle) => Promise<unknown>,
): Promise<void> {
  const module = join(import.meta.dirname, `numbered-relay${extname(import.meta.filename)}`)
  for (const [functionName, trigger] of [[onEvents, 'relay'] as const, [onSchedule, 'pull'] as const]) {
    const bundleDir = join(around.dir, 'bundle', trigger)
    const timeoutMs = functionTimeoutMs
    const env = environment(around)
    await deployRelay(host, around.stack, { functionName, trigger, module, prefix, bundleDir, timeoutMs, env })
    await bundled({ module, trigger, dir: bundleDir })
  }
  await host.warm(onEvents, partitions)
}

/** Short leases and transactions, so that what a fault leaves behind is over soon and the next one finds work under way. */
const environment = ({ proxiedBrokers, table }: Surroundings): Record<string, string> => ({
  FENCEPOST_BROKERS: proxiedBrokers.join(','),
  FENCEPOST_TABLE_ENDPOINT: table.endpoint,
  FENCEPOST_TRANSACTION_TIMEOUT_MS: String(functionTimeoutMs + 3_000),
  FENCEPOST_LEASE_MS: '1000',
  FENCEPOST_RENEW_EVERY_MS: '300',
})

async function attach(host: LambdaHost, { stack, fences, clock, random }: Surroundings): Promise<RunningSubject> {
  const functions = new FunctionsAtWork({ host, fences, lanes, clock, random })
  const invoke = async (name: string, event: unknown) => {
    const result = await host.invoke(name, event)
    functions.note(result)
    return result
  }
  const dial: BellDial = { seed: 0, overlap: 0, duplicate: 0 }
  const poller: Poller = await startPoller({
    brokers: stack.brokers,
    topic: relay.sourceTopic,
    group: 'chaos-event-source-mapping',
    pollers: partitions,
    batchSize: 500,
    batchingWindowMs: 100,
    backOff: { minMs: 200, maxMs: 2_000 },
    chaos: dial,
    function: (event) => invoke(onEvents, event),
  })
  const pulls = startSchedule({ everyMs: pullEveryMs, invoke: () => invoke(onSchedule, {}) })
  const bells = { dial, poller, clock }
  return {
    faults: [
      killFunction(functions),
      pauseFunction(functions),
      functionTimeout(functions, functionTimeoutMs),
      overlap(bells),
      duplicateBells(bells),
      rebalance(bells, partitions),
    ],
    stats: () => {
      const { invocations, redelivered } = poller.stats()
      return { invocations: invocations + pulls.stats().invoked, redelivered }
    },
    async stop() {
      await Promise.all([poller.stop(), pulls.stop()])
      await host.stop()
    },
  }
}
