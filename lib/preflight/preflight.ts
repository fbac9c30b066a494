import type { Deadline } from '../clock.ts'
import { clusterChecks } from './checks/cluster.ts'
import { lineageChecks } from './checks/lineage.ts'
import { mappingChecks } from './checks/mappings.ts'
import { replicationChecks } from './checks/replication.ts'
import { rightChecks } from './checks/rights.ts'
import { sourceTransactionChecks } from './checks/source-transactions.ts'
import { storeChecks } from './checks/stores.ts'
import { timeChecks } from './checks/times.ts'
import { topicChecks } from './checks/topics.ts'
import type { Facts } from './facts/facts.ts'
import { type PreflightPlace, readFacts } from './facts/read-facts.ts'
import type { Finding, Status } from './finding.ts'

export interface PreflightReport {
  /** No check fails. Warnings and what is not known do not count against it. */
  readonly ok: boolean
  readonly prefix: string
  readonly relays: readonly string[]
  readonly counts: Readonly<Record<Status, number>>
  readonly checks: readonly Finding[]
}

/** A family of checks: what it concludes from the facts. Pure. */
export type CheckFamily = (facts: Facts) => readonly Finding[]

/** In the order in which people read them. */
const families: readonly CheckFamily[] = [
  clusterChecks,
  timeChecks,
  topicChecks,
  replicationChecks,
  rightChecks,
  lineageChecks,
  sourceTransactionChecks,
  storeChecks,
  mappingChecks,
]

/**
 * Whether a deployment will keep its promise where it is going to run: everything is asked, and all that is wrong is told
 * at once. Only reads; may run beside the relay.
 */
export async function preflight(place: PreflightPlace, deadline: Deadline): Promise<PreflightReport> {
  return judge(await readFacts(place, deadline))
}

/** Pure: the same facts, the same report. */
export function judge(facts: Facts): PreflightReport {
  const checks = families.flatMap((family) => family(facts))
  const count = (status: Status) => checks.filter((check) => check.status === status).length
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail'), unknown: count('unknown') }
  return {
    ok: counts.fail === 0,
    prefix: facts.prefix,
    relays: facts.relays.map(({ name }) => name),
    counts,
    checks,
  }
}
