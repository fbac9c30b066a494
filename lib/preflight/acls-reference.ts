import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { redriveRelay } from '../relay/redrive/redrive.ts'
import { aclCommand, type KafkaAcl, kafkaAcls } from './acls.ts'

/** The page about Kafka ACLs, as Markdown, with one relay as its example: docs/operations/acls.md is this text. */
export function aclReference(relay: CompiledRelay, prefix: string, module: string): string {
  const acls = kafkaAcls(relay, prefix)
  const back = relay.deadLetters === null ? [] : kafkaAcls(redriveRelay(relay, relay.sourceTopic), prefix)
  const added = back.filter((acl) => !acls.some((other) => keyOf(other) === keyOf(acl)))
  return `${[...head(relay, prefix, module), ...table(acls), ...commands(acls), ...redrive(added), ...rest].join('\n')}\n`
}

const keyOf = ({ operation, resource, name }: KafkaAcl): string => `${operation} ${resource} ${name}`

const head = ({ name }: CompiledRelay, prefix: string, module: string): readonly string[] => [
  '# Kafka ACLs',
  '',
  'What the Kafka user of a relay needs, and no more. For your own relays, as commands:',
  '',
  '```',
  `fencepost preflight --relay ${module} --prefix ${prefix} --acls User:${prefix}`,
  '```',
  '',
  `Here for the relay \`${name}\` with the prefix \`${prefix}\`. \`npm run test:acl\` runs a relay on a broker that goes by exactly`,
  'these (StandardAuthorizer), then with each one taken away: the relay says which is missing, and loses nothing.',
  '`fencepost preflight` finds out beforehand which of them a user has.',
  '',
]

const table = (acls: readonly KafkaAcl[]): readonly string[] => [
  '| operation | resource | name | for | without it |',
  '|---|---|---|---|---|',
  ...acls.map(
    ({ operation, resource, name, pattern, why, required }) =>
      `| ${operation} | ${resource} | \`${name}\`${pattern === 'prefixed' ? ' (prefixed)' : ''} | ${why} | ${required ? '`NOT_AUTHORIZED`, which names it' : 'works'} |`,
  ),
  '',
  'Read and Write include Describe. An idempotent or transactional producer needs no IdempotentWrite since Kafka 2.8.',
  '',
]

const commands = (acls: readonly KafkaAcl[]): readonly string[] => [
  '```',
  ...acls.map((acl) => aclCommand(acl, 'User:relay')),
  '```',
  '',
]

const redrive = (acls: readonly KafkaAcl[]): readonly string[] => [
  '## Redrive',
  '',
  '`fencepost redrive` is a relay of its own, from the dead letters back to the source. Beside the above its user needs:',
  '',
  '```',
  ...acls.map((acl) => aclCommand(acl, 'User:relay')),
  '```',
  '',
]

const rest: readonly string[] = [
  '## Others',
  '',
  '- **The event source mapping** logs in by itself. Where it has a user of its own: Read on the source and Read on its own',
  '  consumer group, which is never the commit group above.',
  '- **`fencepost verify`** reads the outputs too: Read on each.',
  '- **`fencepost abort-hanging`** writes transaction markers: Alter on the cluster (ClusterAction before Kafka 3.8), and',
  '  Describe on the transactional ids. Give it to a user of its own.',
  '- **`fencepost preflight`** needs nothing beside what is listed; what a user may not see is `unknown`. Describe on',
  '  `__transaction_state` and `__consumer_offsets` lets it check their replication too.',
]
