/**
 * Writes lib/kafka/protocol/generated from Kafka's own message schemas.
 *
 *   mvn dependency:copy -Dartifact=org.apache.kafka:kafka-clients:4.1.0 -DoutputDirectory=DIR
 *   unzip -j DIR/kafka-clients-4.1.0.jar 'common/message/*.json' -d SCHEMAS
 *   npm run generate:protocol -- SCHEMAS
 *
 * Only the APIs and versions below are written. Kafka 3.6 to 4.1 speak all lower bounds, and flexible versions only
 * (OffsetDelete has none), so that a message has one layout with few conditions.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateApi, generateIndex } from './protocol/emit.ts'
import { parseApi } from './protocol/schema.ts'

const KAFKA_VERSION = '4.1.0'

const wanted: Readonly<Record<string, readonly [min: number, max: number]>> = {
  ApiVersions: [3, 4],
  Metadata: [10, 12],
  FindCoordinator: [4, 5], // 3 asks for a single key
  InitProducerId: [3, 5],
  AddPartitionsToTxn: [3, 3], // from 4 on for brokers only
  AddOffsetsToTxn: [3, 4],
  Produce: [9, 12], // from 13 on by topic id
  TxnOffsetCommit: [3, 5],
  EndTxn: [3, 5],
  OffsetFetch: [8, 9], // 7 has another layout, 10 wants topic ids
  Fetch: [13, 17], // below 13 by name: a recreated topic would be read as if nothing had happened (R9)
  ListOffsets: [6, 8],
  ListTransactions: [0, 1],
  DescribeTransactions: [0, 0],
  DescribeProducers: [0, 0],
  WriteTxnMarkers: [1, 1],
  DescribeConfigs: [4, 4],
  DescribeCluster: [0, 1],
  OffsetCommit: [8, 9],
  JoinGroup: [9, 9],
  SyncGroup: [5, 5],
  Heartbeat: [4, 4],
  LeaveGroup: [5, 5],
  CreateTopics: [7, 7],
  DeleteTopics: [6, 6],
  CreatePartitions: [3, 3],
  DescribeGroups: [5, 5],
  DeleteGroups: [2, 2],
  OffsetDelete: [0, 0],
  IncrementalAlterConfigs: [1, 1],
  DeleteRecords: [2, 2],
  CreateAcls: [3, 3],
  DescribeAcls: [3, 3],
  DeleteAcls: [3, 3],
}

const schemas = process.argv[2]
if (schemas === undefined)
  throw new Error('give the directory that holds the message schemas (see the head of this file)')

const out = join(import.meta.dirname, '../lib/kafka/protocol/generated')
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const read = (name: string) => readFileSync(join(schemas, `${name}.json`), 'utf8')
const apis = Object.entries(wanted).map(([name, [min, max]]) =>
  parseApi(name, { min, max }, read(`${name}Request`), read(`${name}Response`)),
)
for (const api of apis) writeFileSync(join(out, `${api.file}.ts`), generateApi(api, KAFKA_VERSION))
writeFileSync(join(out, 'index.ts'), generateIndex(apis, KAFKA_VERSION))
