/**
 * Several of our containers in one process: each the engine of a pull that lingers, over a container of its own with its own
 * connections, cluster view, fence store and settings. They share the process and the compiled code, nothing else. A pull
 * takes every lane that has records and no owner; here each is told its lanes, so that all have as many.
 */
import { pullHandler } from '../../functions/pull.ts'
import { systemClock, systemRandom } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../lib/kafka/kafkajs-transport.ts'
import { type Container, createContainer, type Ready } from '../../lib/lambda/container.ts'
import { look } from '../../lib/relay/look.ts'
import { observers, type RelayObserver } from '../../lib/relay/observer.ts'
import { lanesAt, relayTopics } from '../../lib/relay/relay-topics.ts'
import type { RelayRuntime } from '../../lib/relay/runtime.ts'
import { tailLanes } from '../../lib/relay/tail-lanes.ts'
import { minutes } from '../../lib/units.ts'
import { type Resources, resourcesSince } from '../resources.ts'
import { serve } from '../serve.ts'
import { copyRelay } from './copy-relay.ts'
import { countingTransport, type RequestCounts } from './counting-transport.ts'
import { lambdaContext } from './lambda-context.ts'

export type LanesQuestion =
  /** One pull that does not linger, for the first start of all lanes. */
  | { readonly do: 'first start' }
  /** One more container, which stays with the lanes of these partitions; answered when it has relayed a record of each. */
  | { readonly do: 'open'; readonly container: number; readonly partitions: readonly number[] }
  | { readonly do: 'tell' }

/** Of all containers of the process since it began. */
export interface LanesAnswer extends Resources {
  readonly requests: RequestCounts
  readonly windows: number
  readonly records: number
  /** Of containers and lanes; none on a run that counts. */
  readonly failures: readonly string[]
}

const { BENCH_SOURCE = '', BENCH_OUTPUT = '', BENCH_COMMIT_EVERY_MS = '', BENCH_PARTITIONS_PER_LANE = '' } = process.env
const invocationMs = minutes(13)
const relay = copyRelay({
  source: BENCH_SOURCE,
  output: BENCH_OUTPUT,
  commitEveryMs: Number(BENCH_COMMIT_EVERY_MS),
  partitionsPerLane: Number(BENCH_PARTITIONS_PER_LANE),
})
const requests: RequestCounts = {}
const failures: string[] = []
let windows = 0
let records = 0
let onWindow: () => void = () => undefined

serve(async (question: LanesQuestion) => {
  if (question.do === 'first start')
    return pullHandler(relay, container())({}, lambdaContext(invocationMs, 'first-start'))
  if (question.do === 'open') return open(question)
  return { requests, windows, records, failures, ...resourcesSince(0) } satisfies LanesAnswer
})

async function open({ container, partitions }: Extract<LanesQuestion, { do: 'open' }>): Promise<void> {
  const wanted = records + partitions.length
  const relayed = new Promise<void>((resolve) => {
    onWindow = () => records >= wanted && resolve()
  })
  const ended = tail(`container-${container}`, partitions).then(
    () => failures.push(`container ${container} has ended`),
    (error) => failures.push(`container ${container}: ${messageOf(error)}`),
  )
  await Promise.race([relayed, ended])
}

async function tail(name: string, partitions: readonly number[]): Promise<void> {
  const context = lambdaContext(invocationMs, name)
  const { runtime, deadline } = await container().ready(context)
  const topics = await relayTopics(runtime, deadline)
  const bell = { kind: 'pull', lingerUntilMs: deadline.atMs } as const
  const seen = await look(runtime, topics, lanesAt(runtime, topics, partitions), bell, deadline)
  await tailLanes({ runtime, topics, bell, requestId: context.awsRequestId, deadline }, seen)
}

const container = (): Container => counted(createContainer(relay))

/** The same container, on a transport of its own that counts; the one that it has connected meanwhile is closed. */
const counted = (container: Container): Container => ({
  ...container,
  async ready(context) {
    const ready = await container.ready(context)
    await ready.runtime.cluster.close()
    return { ...ready, runtime: countedRuntime(ready) }
  },
})

const observer: RelayObserver = {
  windowCommitted({ counts }) {
    windows++
    records += counts.records
    onWindow()
  },
  laneFailed: ({ error }) => failures.push(error.message),
  laneStopped: ({ error }) => failures.push(error.message),
}

function countedRuntime({ runtime, settings }: Ready): RelayRuntime {
  const transport = countingTransport(createKafkaTransport(settings.kafka), requests)
  const cluster = createCluster(transport, systemClock, systemRandom)
  return { ...runtime, cluster, observer: observers(observer, runtime.observer) }
}
