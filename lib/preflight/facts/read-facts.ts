import type { Deadline } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { type Told, told, untold } from '../finding.ts'
import type { BucketFacts, Facts, TableFacts } from './facts.ts'
import { readCluster } from './read-cluster.ts'
import { readLineages } from './read-lineages.ts'
import { readProducers } from './read-producers.ts'
import { readRights } from './read-rights.ts'
import { readTopics } from './read-topics.ts'

/** What is to be looked at, and what it stands on. */
export interface PreflightPlace
  extends Pick<
    Facts,
    'prefix' | 'relays' | 'transactionTimeoutMs' | 'sweepEveryMs' | 'weakTopicsAccepted' | 'localStores' | 'mappings'
  > {
  readonly cluster: Cluster
  readonly fences: FenceStore
  readonly table: () => Promise<Told<TableFacts>>
  /** null: this deployment has none. */
  readonly bucket: (() => Promise<Told<BucketFacts>>) | null
}

/** Reads all facts, those of Kafka and those of AWS at once. A source that fails is one untold fact, never an error. */
export async function readFacts(place: PreflightPlace, deadline: Deadline): Promise<Facts> {
  const { cluster: _, fences: __, table, bucket, ...own } = place
  const [kafka, tableFacts, bucketFacts] = await Promise.all([kafkaFacts(place, deadline), table(), bucket?.() ?? null])
  return { ...own, ...kafka, table: tableFacts, bucket: bucketFacts }
}

type KafkaFacts = Pick<Facts, 'cluster' | 'topics' | 'rights' | 'lineages' | 'producers'>

/** Without a cluster nothing else is asked of it. */
async function kafkaFacts(place: PreflightPlace, deadline: Deadline): Promise<KafkaFacts> {
  const { cluster, fences, prefix, relays } = place
  const found = await attempt(() => readCluster(cluster, deadline))
  if (!found.told) return { cluster: found, topics: found, rights: found, lineages: found, producers: [] }
  const rights = await attempt(() => readRights(cluster, prefix, relays, deadline))
  const topics = await attempt(() => readTopics(cluster, relays, deadline)) // the first question to a coordinator makes its topic
  const known = topics.told ? topics.value : []
  const [lineages, producers] = await Promise.all([
    attempt(() => readLineages(cluster, fences, prefix, relays, known, deadline)),
    readProducers(cluster, relays, known, deadline),
  ])
  return { cluster: found, topics, rights, lineages, producers }
}

const attempt = <T>(read: () => Promise<T>): Promise<Told<T>> =>
  read().then(told, (error: unknown) => untold(messageOf(error)))
