import type { ClusterFacts, Facts } from '../facts/facts.ts'
import { brokerSettings } from '../facts/read-cluster.ts'
import { type Finding, fail, holds, ok, type Subject } from '../finding.ts'
import { ofEachBroker } from './each-broker.ts'

/** Whether there is a cluster at all, and whether its transactions keep the promise. */
export function clusterChecks({ cluster }: Facts): readonly Finding[] {
  const reached: Subject = { id: 'broker.reached', about: 'broker', what: 'connection', wanted: 'an answer' }
  if (!cluster.told) return [fail(reached, cluster.why, 'check addresses, network path, TLS and credentials')]
  const { value } = cluster
  const found = `${value.brokers.length} ${value.brokers.length === 1 ? 'broker' : 'brokers'}`
  return [ok(reached, found), version(value), transactionVersion(value), ...verification(value)]
}

/** The level that each release finalizes first (Kafka `MetadataVersion`). */
const releases: readonly (readonly [level: number, release: string])[] = [
  [26, '4.1'],
  [22, '4.0'],
  [21, '3.9'],
  [20, '3.8'],
  [15, '3.7'],
  [12, '3.6'],
]
const fetchKey = 1
/** Fetch 15 came with Kafka 3.5. */
const fetchVersionMin = 15

const versionSubject: Subject = {
  id: 'broker.version',
  about: 'broker',
  what: 'version',
  wanted: 'Kafka 3.6 or later, which verifies that a transaction is open before it appends to it',
}
const upgrade = 'upgrade the brokers to Kafka 3.6 or later (4.x is quicker)'

function version({ features, highestVersions }: ClusterFacts): Finding {
  const level = features.get('metadata.version')
  if (level === undefined) return versionByRequests(highestVersions.get(fetchKey) ?? 0)
  const release = releases.find(([first]) => level >= first)?.[1]
  if (release === undefined) return fail(versionSubject, `Kafka 3.5 or earlier (metadata.version ${level})`, upgrade)
  return ok(versionSubject, `Kafka ${release}${level > newestKnown ? ' or later' : ''}`)
}

/** 4.1 finalizes 26 and 27. */
const newestKnown = 27

/** Services, and clusters with ZooKeeper, finalize no metadata version; the partition verification then tells more. */
function versionByRequests(fetch: number): Finding {
  if (fetch < fetchVersionMin) return fail(versionSubject, `Kafka 3.4 or earlier (Fetch ${fetch})`, upgrade)
  return ok(versionSubject, `Kafka 3.5 or later (Fetch ${fetch})`)
}

function transactionVersion({ features }: ClusterFacts): Finding {
  const subject: Subject = {
    id: 'broker.transactions',
    about: 'broker',
    what: 'transactions',
    wanted: 'any; v2 is quicker',
  }
  return ok(subject, `v${features.get('transaction.version') ?? 1}`)
}

/** Without it a late request of a dead transaction lands in the next one (KIP-890). */
function verification(cluster: ClusterFacts): readonly Finding[] {
  const name = brokerSettings.verification
  const subject: Subject = { id: 'broker.verification', about: 'broker', what: name, wanted: 'true' }
  return ofEachBroker(cluster, subject, name, (value, about) =>
    holds(
      value === 'true',
      fail,
      { ...subject, about },
      value,
      `kafka-configs.sh --alter --entity-type brokers --entity-default --add-config ${name}=true`,
    ),
  )
}
