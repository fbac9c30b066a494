import type { KafkaVersion } from '../../../lib/local/kafka-jars.ts'
import { clusterAt } from '../../helpers/kafka-client.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'

/** The broker that the tests of a run share. */
export async function realCluster(version: KafkaVersion) {
  const cluster = clusterAt(await kafkaBrokers(version))
  return { cluster, freshName, run: <T>(work: Promise<T>) => work, close: () => cluster.close() }
}
