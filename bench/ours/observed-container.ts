import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { Container } from '../../lib/lambda/container.ts'
import { observers, type RelayObserver } from '../../lib/relay/observer.ts'
import type { RelayRuntime } from '../../lib/relay/runtime.ts'

/** What happened in a container since the last reset. */
export class Observed {
  windowsMs: number[] = []
  /** When the first window began to be read. */
  beganAtMs: number | null = null
  committedAtMs: number | null = null
  /** Writes that left for the fence table. */
  fenceWrites = 0
  /** InitProducerId requests that left for a broker. */
  barriers = 0
  onCommit: () => void = () => undefined

  reset(): void {
    this.windowsMs = []
    this.beganAtMs = null
    this.committedAtMs = null
    this.fenceWrites = 0
    this.barriers = 0
  }
}

/** The same container, watched. */
export function observedContainer(container: Container, observed: Observed): Container {
  let watched: RelayRuntime | null = null
  return {
    ...container,
    async ready(context) {
      const ready = await container.ready(context)
      watched ??= watchedRuntime(ready.runtime, observed)
      return { ...ready, runtime: watched }
    },
  }
}

function watchedRuntime(runtime: RelayRuntime, observed: Observed): RelayRuntime {
  const observer: RelayObserver = {
    windowCommitted({ timings: { readMs, transformMs, commitMs } }) {
      const tookMs = readMs + transformMs + commitMs
      observed.committedAtMs = performance.now()
      observed.beganAtMs = Math.min(observed.beganAtMs ?? Infinity, observed.committedAtMs - tookMs)
      observed.windowsMs.push(tookMs)
      observed.onCommit()
    },
  }
  return {
    ...runtime,
    cluster: countingCluster(runtime.cluster, observed),
    fences: countingFences(runtime.fences, observed),
    observer: observers(observer, runtime.observer),
  }
}

function countingFences(fences: FenceStore, observed: Observed): FenceStore {
  return {
    ...fences,
    write(write, deadline) {
      observed.fenceWrites++
      return fences.write(write, deadline)
    },
  }
}

function countingCluster(cluster: Cluster, observed: Observed): Cluster {
  return {
    clock: cluster.clock,
    clusterId: (deadline) => cluster.clusterId(deadline),
    brokers: (deadline) => cluster.brokers(deadline),
    transactionVersion: (deadline) => cluster.transactionVersion(deadline),
    topics: (names, deadline, fresh) => cluster.topics(names, deadline, fresh),
    request(target, api, body, deadline, options) {
      if (api === 'InitProducerId') observed.barriers++
      return cluster.request(target, api, body, deadline, options)
    },
    locate: (target, deadline) => cluster.locate(target, deadline),
    forget: (target) => cluster.forget(target),
    close: () => cluster.close(),
  }
}
