import type { Deadline } from '../../../lib/clock.ts'
import type { Answer, Cluster, Target } from '../../../lib/kafka/cluster.ts'
import type { Api, RequestOf, ResponseOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { VersionBounds } from '../../../lib/kafka/versions.ts'

/** One request of the engine on its way to the brokers. */
export interface Call<A extends Api = Api> {
  readonly target: Target
  readonly api: A
  readonly body: RequestOf<A>
  readonly deadline: Deadline
  readonly options: VersionBounds
}

export type Send = <A extends Api>(call: Call<A>) => Promise<Answer<A>>

/** Answers in the broker's place, asks it something else, or sends the call on. */
export type Interceptor = (call: Call, send: Send) => Promise<Answer<Api>>

export const isCall = <A extends Api>(call: Call, api: A): call is Call & Call<A> => call.api === api

/** A cluster of which every request passes the interceptor: the seam at which a control breaks its relay. */
export function intercepted(cluster: Cluster, interceptor: Interceptor): Cluster {
  const send: Send = ({ target, api, body, deadline, options }) => cluster.request(target, api, body, deadline, options)
  return {
    clock: cluster.clock,
    clusterId: (deadline) => cluster.clusterId(deadline),
    brokers: (deadline) => cluster.brokers(deadline),
    transactionVersion: (deadline) => cluster.transactionVersion(deadline),
    topics: (...args) => cluster.topics(...args),
    request: async <A extends Api>(
      target: Target,
      api: A,
      body: RequestOf<A>,
      deadline: Deadline,
      options: VersionBounds = {},
    ) => {
      // the interceptor answers a call of this api with an answer of this api
      const call = { target, api, body, deadline, options } as unknown as Call
      return (await interceptor(call, send)) as Answer<A>
    },
    locate: (...args) => cluster.locate(...args),
    forget: (target) => cluster.forget(target),
    close: () => cluster.close(),
  }
}

/** An answer that no broker gave. */
export const invented = <A extends Api>(call: Call<A>, body: ResponseOf<A>): Answer<A> => ({
  body,
  node: { nodeId: -1, host: '', port: -1 },
  version: call.options.maxVersion ?? call.options.minVersion ?? 0,
})
