import type { Api } from '../../lib/kafka/protocol/generated/index.ts'
import type { Transport } from '../../lib/kafka/transport.ts'

/** Requests by API that left for a broker, ApiVersions and FindCoordinator and all others. */
export type RequestCounts = Partial<Record<Api, number>>

/** The same transport; every transmission is counted before it leaves. */
export function countingTransport(transport: Transport, counts: RequestCounts): Transport {
  const count = (api: Api) => {
    counts[api] = (counts[api] ?? 0) + 1
  }
  return {
    bootstrap: transport.bootstrap,
    send(request) {
      count(request.api)
      return transport.send(request)
    },
    capabilities(node, deadline) {
      count('ApiVersions')
      return transport.capabilities(node, deadline)
    },
    close: () => transport.close(),
  }
}
