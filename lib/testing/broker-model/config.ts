/** Broker settings that the model knows, with Kafka's defaults. Names are Kafka's, spelled as identifiers. */
export interface BrokerConfig {
  /** Of both internal topics. Kafka's default is 50; few make coordinators share nodes as in the local stack. */
  readonly coordinatorPartitions: number
  readonly transactionMaxTimeoutMs: number
  readonly transactionAbortScanMs: number
  readonly transactionalIdExpirationMs: number
  readonly transactionalIdScanMs: number
  readonly producerIdExpirationMs: number
  readonly producerIdScanMs: number
  readonly offsetsRetentionMs: number
  readonly offsetsScanMs: number
  readonly offsetMetadataBytesMax: number
  readonly messageBytesMax: number
  /** `log.message.timestamp.after.max.ms`. */
  readonly timestampAfterMaxMs: number
  readonly retentionMs: number
  readonly retentionScanMs: number
  readonly minInSyncReplicas: number
  /** `transaction.partition.verification.enable`. */
  readonly partitionVerification: boolean
  readonly addPartitionsRetryMs: number
  readonly addPartitionsRetryMaxMs: number
}

const minutes = (count: number): number => count * 60_000
const hours = (count: number): number => minutes(60 * count)
const days = (count: number): number => hours(24 * count)

export const defaultConfig: BrokerConfig = {
  coordinatorPartitions: 4,
  transactionMaxTimeoutMs: minutes(15),
  transactionAbortScanMs: 10_000,
  transactionalIdExpirationMs: days(7),
  transactionalIdScanMs: hours(1),
  producerIdExpirationMs: days(1),
  producerIdScanMs: minutes(10),
  offsetsRetentionMs: days(7),
  offsetsScanMs: minutes(10),
  offsetMetadataBytesMax: 4096,
  messageBytesMax: 1_048_588,
  timestampAfterMaxMs: hours(1),
  retentionMs: days(7),
  retentionScanMs: minutes(5),
  minInSyncReplicas: 1,
  partitionVerification: true,
  addPartitionsRetryMs: 20,
  addPartitionsRetryMaxMs: 100,
}
