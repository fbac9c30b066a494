import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'
import type { Environment } from '../relay/config/config.ts'
import { deploymentDimension, metricNamespace } from './metric-catalogue.ts'

/** Where the logs and metrics of one relay go; both to stdout, as lines of JSON. */
export interface Telemetry {
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Two deployments in one account are told apart by their prefixes. */
export function relayTelemetry({ name }: { readonly name: string }, env: Environment): Telemetry {
  const { FENCEPOST_PREFIX: prefix } = env
  const dimensions = prefix ? { defaultDimensions: { [deploymentDimension]: prefix } } : {}
  return {
    logger: new Logger({ serviceName: name }),
    metrics: new Metrics({ namespace: metricNamespace, serviceName: name, ...dimensions }),
  }
}
