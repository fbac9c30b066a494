import { commitGroup } from '../../transaction/ids.ts'
import { minutes } from '../../units.ts'
import type { Facts, MappingFacts } from '../facts/facts.ts'
import { type Finding, fail, holds, type Subject, type Told, unknown, warn } from '../finding.ts'

/** The longest that a Kafka event source mapping waits for its function (AWS Lambda guide, Kafka event sources). */
const functionTimeoutMaxMs = minutes(14)

type Otherwise = typeof fail | typeof warn

/** One thing of a mapping: what it must be like, and what is lost where it is not. */
interface MappingRule<T> {
  readonly id: string
  readonly what: string
  readonly wanted: string
  readonly otherwise: Otherwise
  readonly fix: string
  found(mapping: MappingFacts): Told<T>
  isFine(value: T, mapping: MappingFacts): boolean
}

const rule = <T>(definition: MappingRule<T>) => {
  const { id, what, wanted, otherwise, fix, found, isFine } = definition
  return (mapping: MappingFacts): Finding => {
    const subject: Subject = { id: `mapping.${id}`, about: mapping.name, what, wanted }
    const value = found(mapping)
    if (!value.told) return unknown(subject, value.why)
    return holds(isFine(value.value, mapping), otherwise, subject, shown(value.value), fix)
  }
}

const shown = (value: unknown): string => (value === null ? 'none' : String(value))

/** A bell that is dropped is made good by the next one or the sweep only: late. One that is dropped for good is a hole. */
const rules: readonly ((mapping: MappingFacts) => Finding)[] = [
  rule({
    id: 'retries',
    what: 'MaximumRetryAttempts',
    wanted: '-1 (for ever)',
    otherwise: fail,
    fix: 'leave it out, or set -1: otherwise the mapping goes past records that were not relayed',
    found: ({ retriesMax }) => retriesMax,
    isFine: (count) => count === -1,
  }),
  rule({
    id: 'record-age',
    what: 'MaximumRecordAgeInSeconds',
    wanted: '-1 (for ever)',
    otherwise: fail,
    fix: 'leave it out, or set -1: otherwise the mapping goes past records that were not relayed',
    found: ({ recordAgeMaxSeconds }) => recordAgeMaxSeconds,
    isFine: (age) => age === -1,
  }),
  rule({
    id: 'destination',
    what: 'on-failure destination',
    wanted: 'none',
    otherwise: fail,
    fix: 'take DestinationConfig out: with it Lambda gives up after 10 retries; dead letters are a topic of the relay',
    found: ({ onFailure }) => onFailure,
    isFine: (destination) => destination === null,
  }),
  rule({
    id: 'mode',
    what: 'ConsumptionMode',
    wanted: 'Stream',
    otherwise: fail,
    fix: 'make the mapping anew without Queue mode: a share group has no order, and no offsets to go past',
    found: ({ consumptionMode }) => consumptionMode,
    isFine: (mode) => mode !== 'Queue',
  }),
  rule({
    id: 'schema-registry',
    what: 'schema registry integration',
    wanted: 'false',
    otherwise: fail,
    fix: 'take SchemaRegistryConfig out: it strips schema ids and drops what does not validate; codecs do that here',
    found: ({ schemaRegistry }) => schemaRegistry,
    isFine: (isUsed) => !isUsed,
  }),
  rule({
    id: 'filter',
    what: 'filter',
    wanted: 'false',
    otherwise: warn,
    fix: 'take FilterCriteria out and filter in the transform: filtered records ring no bell, so progress waits for others',
    found: ({ filtered }) => filtered,
    isFine: (isUsed) => !isUsed,
  }),
  rule({
    id: 'bisect',
    what: 'BisectBatchOnFunctionError',
    wanted: 'false',
    otherwise: warn,
    fix: 'set false: halves of a batch ring the same lanes twice; the relay finds a bad record itself',
    found: ({ bisect }) => bisect,
    isFine: (isUsed) => !isUsed,
  }),
  rule({
    id: 'starting-position',
    what: 'StartingPosition',
    wanted: 'TRIM_HORIZON or AT_TIMESTAMP',
    otherwise: warn,
    fix: 'set TRIM_HORIZON: with LATEST what is written while the mapping is made rings no bell, and waits for the sweep',
    found: ({ startingPosition }) => startingPosition,
    isFine: (position) => position !== 'LATEST',
  }),
  rule({
    id: 'enabled',
    what: 'enabled',
    wanted: 'true',
    otherwise: warn,
    fix: 'enable the mapping: until then only sweep and pull relay',
    found: ({ enabled }) => enabled,
    isFine: Boolean,
  }),
  rule({
    id: 'function-timeout',
    what: 'function timeout in ms',
    wanted: `${functionTimeoutMaxMs} or less`,
    otherwise: fail,
    fix: 'lower the timeout of the function: a Kafka mapping waits no longer, and rings again beside it',
    found: ({ functionTimeoutMs }) => functionTimeoutMs,
    isFine: (ms) => ms <= functionTimeoutMaxMs,
  }),
]

/** Each event source mapping, and what its function takes it for. */
export function mappingChecks({ mappings, prefix, relays, transactionTimeoutMs }: Facts): readonly Finding[] {
  const groups = relays.map(({ name }) => commitGroup(prefix, name))
  const sources = relays.map(({ sourceTopic }) => sourceTopic)
  return mappings.flatMap((mapping) => [
    ...rules.map((judge) => judge(mapping)),
    ownGroup(mapping, groups),
    ofRelays(mapping, sources),
    ...partialFailures(mapping),
    transactionOutlasts(mapping, transactionTimeoutMs),
  ])
}

function ownGroup({ name, consumerGroup }: MappingFacts, commitGroups: readonly string[]): Finding {
  const subject: Subject = {
    id: 'mapping.consumer-group',
    about: name,
    what: 'consumer group',
    wanted: "a group of the mapping's own",
  }
  if (!consumerGroup.told) return unknown(subject, consumerGroup.why)
  const fix = 'make the mapping anew with another ConsumerGroupId: it would overwrite the positions of the relay'
  return holds(!commitGroups.includes(consumerGroup.value), fail, subject, consumerGroup.value, fix)
}

/** A function refuses events of a topic that is not its relay's source; one of another relay was perhaps not given. */
function ofRelays({ name, topics }: MappingFacts, sources: readonly string[]): Finding {
  const wanted = `the source of a relay: ${sources.join(', ')}`
  const subject: Subject = { id: 'mapping.topics', about: name, what: 'topics', wanted }
  const fix = 'correct Topics of the mapping, or give its relay with --relay too'
  return holds(
    topics.every((topic) => sources.includes(topic)),
    warn,
    subject,
    topics.join(', '),
    fix,
  )
}

/** A function that names failed lanes to a mapping that does not listen answers success for them. */
function partialFailures({
  name,
  partialFailures: mapped,
  functionPartialFailures: believed,
}: MappingFacts): readonly Finding[] {
  const subject: Subject = {
    id: 'mapping.partial-failures',
    about: name,
    what: 'ReportBatchItemFailures',
    wanted: 'what FENCEPOST_PARTIAL_FAILURES of the function says',
  }
  if (!mapped.told) return [unknown(subject, mapped.why)]
  if (!believed.told) return [unknown(subject, believed.why)]
  const found = `${mapped.value}, the function has ${believed.value}`
  if (believed.value && !mapped.value) {
    const fix =
      'add ReportBatchItemFailures to FunctionResponseTypes, or set FENCEPOST_PARTIAL_FAILURES=false: failed lanes would be taken for done'
    return [fail(subject, found, fix)]
  }
  const fix = 'set FENCEPOST_PARTIAL_FAILURES=true: otherwise one failed lane rings all lanes of its batch again'
  return [holds(mapped.value === believed.value, warn, subject, found, fix)]
}

/** R10: the broker must not abort a transaction that its function still works on. */
function transactionOutlasts(
  { name, functionTimeoutMs, functionTransactionTimeoutMs: own }: MappingFacts,
  ofDeployment: number,
): Finding {
  const transactionTimeoutMs = own.told ? (own.value ?? ofDeployment) : ofDeployment
  const subject: Subject = {
    id: 'mapping.transaction-timeout',
    about: name,
    what: 'function timeout',
    wanted: `below FENCEPOST_TRANSACTION_TIMEOUT_MS (${transactionTimeoutMs})`,
  }
  if (!functionTimeoutMs.told) return unknown(subject, functionTimeoutMs.why)
  const { value } = functionTimeoutMs
  return holds(value < transactionTimeoutMs, fail, subject, `${value} ms`, 'lower it, or raise the transaction timeout')
}
