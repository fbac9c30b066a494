import { type Api, apis, type RequestOf, type ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { ApiRange, BrokerCapabilities } from '../../kafka/transport.ts'
import {
  answerCreatePartitions,
  answerCreateTopics,
  answerDeleteGroups,
  answerDeleteRecords,
  answerDeleteTopics,
  answerDescribeGroups,
  answerOffsetDelete,
} from './answer-admin.ts'
import { answerDescribeCluster, answerFindCoordinator, answerMetadata } from './answer-cluster.ts'
import { answerDescribeConfigs, answerIncrementalAlterConfigs } from './answer-configs.ts'
import { answerDescribeProducers, answerDescribeTransactions, answerListTransactions } from './answer-describe.ts'
import { answerFetch } from './answer-fetch.ts'
import { answerListOffsets } from './answer-list-offsets.ts'
import { answerOffsetCommit, answerOffsetFetch, answerTxnOffsetCommit } from './answer-offsets.ts'
import { answerProduce } from './answer-produce.ts'
import {
  answerAddOffsetsToTxn,
  answerAddPartitionsToTxn,
  answerEndTxn,
  answerInitProducerId,
  answerWriteTxnMarkers,
} from './answer-transactions.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode } from './node.ts'

type Answer<A extends Api> = (
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<A>,
  version: number,
) => ResponseOf<A> | Promise<ResponseOf<A>>

/** Groups of the model have no members, so nothing that members say is understood; everybody may do everything. */
const answers: { readonly [A in Api]: Answer<A> | null } = {
  ApiVersions: (model) => answerApiVersions(model),
  Metadata: (model, _node, body) => answerMetadata(model, body),
  FindCoordinator: (model, _node, body) => answerFindCoordinator(model, body),
  DescribeCluster: (model, _node, body) => answerDescribeCluster(model, body),
  InitProducerId: answerInitProducerId,
  AddPartitionsToTxn: answerAddPartitionsToTxn,
  AddOffsetsToTxn: answerAddOffsetsToTxn,
  Produce: answerProduce,
  TxnOffsetCommit: answerTxnOffsetCommit,
  EndTxn: answerEndTxn,
  OffsetFetch: answerOffsetFetch,
  OffsetCommit: answerOffsetCommit,
  Fetch: answerFetch,
  ListOffsets: answerListOffsets,
  ListTransactions: answerListTransactions,
  DescribeTransactions: answerDescribeTransactions,
  DescribeProducers: answerDescribeProducers,
  WriteTxnMarkers: answerWriteTxnMarkers,
  DescribeConfigs: (model, _node, body) => answerDescribeConfigs(model, body),
  IncrementalAlterConfigs: (model, _node, body) => answerIncrementalAlterConfigs(model, body),
  CreateTopics: (model, _node, body) => answerCreateTopics(model, body),
  DeleteTopics: (model, _node, body) => answerDeleteTopics(model, body),
  CreatePartitions: (model, _node, body) => answerCreatePartitions(model, body),
  DeleteRecords: answerDeleteRecords,
  DescribeGroups: answerDescribeGroups,
  DeleteGroups: answerDeleteGroups,
  OffsetDelete: answerOffsetDelete,
  JoinGroup: null,
  SyncGroup: null,
  Heartbeat: null,
  LeaveGroup: null,
  CreateAcls: null,
  DescribeAcls: null,
  DeleteAcls: null,
}

/** What 3.9 brokers, without transaction.version 2, do not speak yet. */
const olderMaxima: { readonly [A in Api]?: number } = { Produce: 11, TxnOffsetCommit: 4, EndTxn: 4 }

/** One node's answer to one request, in the version asked for. */
export async function answer<A extends Api>(
  model: ClusterModel,
  node: ModelNode,
  api: A,
  version: number,
  body: RequestOf<A>,
): Promise<ResponseOf<A>> {
  model.catchUpScans()
  const answerOne: Answer<A> | null = answers[api]
  if (answerOne === null) throw new Error(`${api} is not modelled`)
  return await answerOne(model, node, body, version)
}

/** Null when the model does not speak the API at all. */
export function versionsOf(model: ClusterModel, api: Api): ApiRange | null {
  if (answers[api] === null) return null
  const { min, max } = apis[api].versions
  const olderMax = model.transactionVersion === 1 ? olderMaxima[api] : undefined
  return { min, max: Math.min(max, olderMax ?? max) }
}

export function capabilitiesOf(model: ClusterModel): BrokerCapabilities {
  const ranges = Object.values(apis).flatMap(({ key, name }) => {
    const range = versionsOf(model, name)
    return range === null ? [] : [[key, range] as const]
  })
  const features = model.transactionVersion === 2 ? [['transaction.version', 2] as const] : []
  return { apis: new Map(ranges), features: new Map(features) }
}

function answerApiVersions(model: ClusterModel): ResponseOf<'ApiVersions'> {
  const { apis: ranges, features } = capabilitiesOf(model)
  return {
    errorCode: codes.NONE,
    apiKeys: [...ranges].map(([apiKey, { min, max }]) => ({ apiKey, minVersion: min, maxVersion: max })),
    throttleTimeMs: 0,
    supportedFeatures: [...features].map(([name, level]) => ({ name, minVersion: 0, maxVersion: level })),
    finalizedFeaturesEpoch: 1n,
    finalizedFeatures: [...features].map(([name, level]) => ({ name, maxVersionLevel: level, minVersionLevel: 0 })),
    zkMigrationReady: false,
  }
}
