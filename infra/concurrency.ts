import { seconds } from '../lib/units.ts'
import type { DeploymentPlan } from './plan.ts'

/** What a cluster allows, as its service states it (docs/operations/limits.md). */
export interface ClusterLimits {
  /** Open connections to one broker, of all its clients. */
  readonly connectionsPerBroker: number
  /** New connections to one broker, of all its clients. */
  readonly connectionsPerSecond?: number | undefined
  /** How much of both this deployment may use, from 0 to 1. */
  readonly share: number
}

/** Of one container to one broker: one for Fetch, one for all else (lib/kafka/kafkajs-transport.ts). */
const connectionsPerContainer = 2
/** Within which containers that start all at once must have connected: the bound of one attempt (lib/kafka/kafkajs-transport.ts). */
const connectWithinMs = seconds(5)
/** The sweep and the status function of each relay. */
const containersBesideBells = 2

/**
 * How many containers of one relay may run at once, so that those of all relays together stay within a cluster's limits,
 * even when all of them start at once and each reaches every broker. At least 1.
 */
export function maxConcurrency({ connectionsPerBroker, connectionsPerSecond, share }: ClusterLimits, relays: number) {
  const open = connectionsPerBroker
  const startable = (connectionsPerSecond ?? Number.POSITIVE_INFINITY) * (connectWithinMs / seconds(1))
  const containers = Math.floor((share * Math.min(open, startable)) / connectionsPerContainer)
  return Math.max(1, Math.floor(containers / relays) - containersBesideBells)
}

/** undefined: nothing is known of the cluster's limits. */
export const concurrencyAllowed = ({ limits, relays }: DeploymentPlan): number | undefined =>
  limits && maxConcurrency(limits, relays.length)
