import { seconds } from '../lib/units.ts'
import type { DeploymentPlan, FunctionPlan } from './plan.ts'

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

/** Of the 1,000 that an account has unless it was raised, 100 stay unreserved: Lambda refuses more. */
const reservableByDefault = 900

/** undefined: nothing is known of the cluster's limits. */
export const concurrencyAllowed = ({ limits, relays }: DeploymentPlan): number | undefined =>
  limits && maxConcurrency(limits, relays.length)

/** What is reserved for a bell whose relay says no number: no more than can ever run, where a schedule rings. */
export function concurrencyReserved(plan: DeploymentPlan, bell: FunctionPlan): number | undefined {
  const allowed = concurrencyAllowed(plan)
  if (allowed === undefined) return undefined
  const { everyMinutes, timeoutSeconds } = bell
  const overlapping =
    everyMinutes === null ? Number.POSITIVE_INFINITY : Math.ceil(timeoutSeconds / (everyMinutes * 60)) + 1
  return Math.min(allowed, overlapping, Math.floor(reservableByDefault / plan.relays.length))
}
