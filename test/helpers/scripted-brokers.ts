import { type Clock, type Deadline, deadlineIn, type Random } from '../../lib/clock.ts'
import type { Answer, Cluster, Target, TopicMetadata } from '../../lib/kafka/cluster.ts'
import type { Api, RequestOf, ResponseOf } from '../../lib/kafka/protocol/generated/index.ts'
import { type NodeAddress, TransportError } from '../../lib/kafka/transport.ts'

/** One request as the cluster got it. */
export interface Call {
  readonly api: Api
  readonly target: Target
  // biome-ignore lint/suspicious/noExplicitAny: a script looks into bodies of every api
  readonly body: any
  readonly versions: { readonly minVersion?: number; readonly maxVersion?: number }
  readonly atMs: number
}

/** What a call is answered: a body, or an error to be thrown. */
export type Script = (call: Call, nth: number) => unknown

/** A clock that is moved by those who sleep on it. */
export function idleClock(startMs = 1_000_000): Clock & { readonly slept: number[] } {
  let nowMs = startMs
  const slept: number[] = []
  return {
    slept,
    now: () => nowMs,
    sleep: async (ms) => {
      slept.push(ms)
      nowMs += ms
    },
  }
}

export const evenRandom: Random = { id: () => 'id', fraction: () => 0.5 }

export const node = (nodeId: number): NodeAddress => ({ nodeId, host: `broker-${nodeId}`, port: 9092 })

/** Answers by api; what has no script fails the test. `places` tells which node plays which role; default: node 1 all. */
export class ScriptedBrokers implements Cluster {
  readonly clock = idleClock()
  readonly calls: Call[] = []
  readonly forgotten: Target[] = []
  protocol: 1 | 2 = 2
  places: (target: Target) => number = () => 1
  readonly #scripts: Partial<Record<Api, Script>>

  constructor(scripts: Partial<Record<Api, Script>>) {
    this.#scripts = scripts
  }

  within(ms: number): Deadline {
    return deadlineIn(this.clock, ms)
  }

  callsOf(api: Api): Call[] {
    return this.calls.filter((call) => call.api === api)
  }

  clusterId = async (): Promise<string> => 'cluster'
  brokers = async (): Promise<readonly NodeAddress[]> => [node(1)]
  transactionVersion = async (): Promise<1 | 2> => this.protocol
  topics = async (): Promise<ReadonlyMap<string, TopicMetadata>> => new Map()
  close = async (): Promise<void> => undefined

  locate = async (target: Target): Promise<NodeAddress> =>
    target.to === 'node' ? target.node : node(this.places(target))

  forget(target: Target): void {
    this.forgotten.push(target)
  }

  async request<A extends Api>(
    target: Target,
    api: A,
    body: RequestOf<A>,
    deadline: Deadline,
    versions = {},
  ): Promise<Answer<A>> {
    const script = this.#scripts[api]
    if (script === undefined) throw new Error(`${api} has no script`)
    if (deadline.remainingMs() <= 0) throw lost(false)
    const call = { api, target, body, versions, atMs: this.clock.now() }
    this.calls.push(call)
    const at = await this.locate(target)
    const answer = await script(call, this.callsOf(api).length)
    if (answer instanceof Error) throw answer
    return { body: answer as ResponseOf<A>, node: at, version: 0 }
  }
}

/** The connection broke. `sent`: whether the broker may have got the request. */
export const lost = (sent: boolean): TransportError =>
  new TransportError(node(1), sent ? 'closed' : 'connect', sent, 'the connection broke')

/** One answer after the other; the last one stays. */
export function inTurn(...answers: readonly unknown[]): Script {
  return (_, nth) => answers[Math.min(nth, answers.length) - 1]
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of requests
type Body = any

/** Every partition of a Produce request gets the code that `codeOf` says. */
export function produced(body: Body, codeOf: (topic: string, partition: number) => number = () => 0): unknown {
  return {
    responses: body.topicData.map((topic: Body) => ({
      name: topic.name,
      partitionResponses: topic.partitionData.map((part: Body) => ({
        index: part.index,
        errorCode: codeOf(topic.name, part.index),
        errorMessage: null,
        recordErrors: [],
      })),
    })),
  }
}

export function offsetsTaken(body: Body, code = 0): unknown {
  return {
    topics: body.topics.map((topic: Body) => ({
      name: topic.name,
      partitions: topic.partitions.map((part: Body) => ({ partitionIndex: part.partitionIndex, errorCode: code })),
    })),
  }
}

/** OffsetFetch: the same offset (-1: none) and code for each partition asked for. */
export function offsetsFound(body: Body, committedOffset: bigint, errorCode = 0): unknown {
  return {
    groups: body.groups.map((group: Body) => ({
      groupId: group.groupId,
      errorCode: 0,
      topics: group.topics.map((topic: Body) => ({
        name: topic.name,
        partitions: topic.partitionIndexes.map((partitionIndex: number) => ({
          partitionIndex,
          committedOffset,
          committedLeaderEpoch: -1,
          metadata: '',
          errorCode,
        })),
      })),
    })),
  }
}

export function partitionsAdded(body: Body, code = 0): unknown {
  return {
    resultsByTopicV3AndBelow: body.v3AndBelowTopics.map((topic: Body) => ({
      name: topic.name,
      resultsByPartition: topic.partitions.map((partitionIndex: number) => ({
        partitionIndex,
        partitionErrorCode: code,
      })),
    })),
  }
}
