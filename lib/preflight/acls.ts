import type { AclOperation, AclResource } from '../kafka/missing-acl.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { commitGroup } from '../transaction/ids.ts'

/** One Kafka ACL for the user that a relay's functions log in as. */
export interface KafkaAcl {
  readonly operation: AclOperation
  readonly resource: AclResource
  readonly name: string
  readonly pattern: 'literal' | 'prefixed'
  readonly why: string
  /** Without a required one the relay does not work; without another it works on defaults. */
  readonly required: boolean
}

export type RelayTopicNames = Pick<CompiledRelay, 'name' | 'sourceTopic' | 'outputTopics' | 'deadLetters'>

/**
 * What a relay needs, and no more. Read and Write include Describe (Kafka's StandardAuthorizer), so none is listed. The
 * idempotent producer of the guarantees below exactly-once needs nothing else: Write on a topic is enough (KIP-679).
 */
export function kafkaAcls(relay: RelayTopicNames, prefix: string): readonly KafkaAcl[] {
  const { name, sourceTopic, outputTopics, deadLetters } = relay
  const group = commitGroup(prefix, name)
  const topic = (operation: AclOperation, topicName: string, why: string, required = true): KafkaAcl => {
    return { operation, resource: 'topic', name: topicName, pattern: 'literal', why, required }
  }
  return [
    topic('Read', sourceTopic, 'read records; commit offsets of this topic'),
    ...outputTopics.map((output) =>
      topic('Write', output, output === deadLetters ? 'write dead letters' : 'write outputs'),
    ),
    {
      operation: 'Write',
      resource: 'transactional id',
      name: `${group}.${sourceTopic}.`,
      pattern: 'prefixed',
      why: 'one transactional id per lane; the barrier, the transaction and its end',
      required: true,
    },
    {
      operation: 'Read',
      resource: 'group',
      name: group,
      pattern: 'literal',
      why: 'the commit group: read offsets, and commit them in the transaction',
      required: true,
    },
    ...[...new Set([sourceTopic, ...outputTopics])].map((each) =>
      topic('DescribeConfigs', each, 'how large a batch may be, and preflight: else defaults are assumed', false),
    ),
    {
      operation: 'DescribeConfigs',
      resource: 'cluster',
      name: 'kafka-cluster',
      pattern: 'literal',
      why: "how long Kafka remembers idle offsets, and preflight: else Kafka's defaults are assumed",
      required: false,
    },
  ]
}

const cliResource: Readonly<Record<AclResource, (name: string) => string>> = {
  topic: (name) => `--topic ${name}`,
  group: (name) => `--group ${name}`,
  'transactional id': (name) => `--transactional-id ${name}`,
  cluster: () => '--cluster',
}

/** The line for `kafka-acls.sh`, without `--bootstrap-server`. */
export function aclCommand({ operation, resource, name, pattern }: KafkaAcl, principal: string): string {
  const patternOption = pattern === 'prefixed' ? ' --resource-pattern-type prefixed' : ''
  return `kafka-acls.sh --add --allow-principal ${principal} --operation ${operation} ${cliResource[resource](name)}${patternOption}`
}
