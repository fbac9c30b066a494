import { check, type Problem, shown } from '../../problems.ts'
import { isLegalRelayName, isLegalTopic, relayNameRule, topicRule } from '../../transaction/ids.ts'
import { kibibytes, mebibytes, minutes } from '../../units.ts'
import type { Outputs } from './emit.ts'
import type { RelayDefinition } from './relay-definition.ts'
import type { Topic } from './topic.ts'

/** A definition of whatever relay. */
export type AnyDefinition = RelayDefinition<Topic, Outputs, object>

/** Everything that is wrong with a definition, found together: what types cannot say, and what JavaScript does not check. */
export function definitionProblems(definition: AnyDefinition): Problem[] {
  const shape = shapeProblems(definition)
  if (shape.length > 0) return shape
  return [
    ...nameProblems(definition),
    ...topicProblems(definition),
    ...transformProblems(definition),
    ...rejectionProblems(definition),
    ...limitProblems(definition),
  ]
}

const settingNames = [
  ...['name', 'source', 'outputs', 'deadLetters', 'onError', 'setup', 'transform', 'transformWindow', 'async'],
  ...['startAt', 'window', 'commitEveryMs', 'guarantee', 'read', 'partitionsPerLane', 'poisonAttempts'],
]

function shapeProblems(definition: AnyDefinition): Problem[] {
  const { source, outputs, deadLetters } = definition
  const unknown = Object.keys(definition).filter((name) => !settingNames.includes(name))
  const none = { path: 'outputs', found: 'empty', wanted: 'at least one', fix: 'name the topic that the relay writes' }
  const topics = Object.entries({ source, ...prefixed('outputs.', outputs), ...(deadLetters && { deadLetters }) })
  return [
    ...unknown.map((path) => ({
      path,
      found: 'not a setting',
      wanted: `one of ${settingNames.join(', ')}`,
      fix: 'correct its spelling or remove it',
    })),
    ...topics
      .filter(([, topic]) => !isTopic(topic))
      .map(([path, value]) => ({
        path,
        found: shown(value),
        wanted: 'a topic',
        fix: "write topic('its-name', json(Schema))",
      })),
    ...(Object.keys(outputs ?? {}).length === 0 ? [none] : []),
  ]
}

const prefixed = (prefix: string, entries: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(entries ?? {}).map(([name, value]) => [prefix + name, value]))

const isTopic = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && 'value' in value && 'key' in value

function nameProblems({ name, outputs }: AnyDefinition): Problem[] {
  const relay = { path: 'name', found: shown(name), wanted: relayNameRule, fix: 'rename the relay' }
  const badOutputs = Object.keys(outputs).filter(
    (output) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(output) || output === 'then',
  )
  return [
    ...(typeof name === 'string' && isLegalRelayName(name) ? [] : [relay]),
    ...badOutputs.map((output) => ({
      path: `outputs.${output}`,
      found: 'not a name that reads well behind `emit.`',
      wanted: "letters, digits and '_', beginning with a letter, and not 'then'",
      fix: 'rename the output; its topic may have any legal name',
    })),
  ]
}

interface PlacedTopic {
  readonly path: string
  readonly topic: string
}

function topicProblems({ source, outputs, deadLetters }: AnyDefinition): Problem[] {
  const placed: PlacedTopic[] = [
    { path: 'source', topic: source.name },
    ...Object.entries(outputs).map(([name, { name: topic }]) => ({ path: `outputs.${name}`, topic })),
    ...(deadLetters ? [{ path: 'deadLetters', topic: deadLetters.name }] : []),
  ]
  return [
    ...placed
      .filter(({ topic }) => !isLegalTopic(topic))
      .map(({ path, topic }) => ({
        path,
        found: shown(topic),
        wanted: topicRule,
        fix: 'give the topic a name that Kafka accepts',
      })),
    ...placed.flatMap((one) => usedBefore(one, placed)),
  ]
}

/** A relay that writes its own source never ends; two outputs in one topic could not be told apart by readers and tests. */
function usedBefore(one: PlacedTopic, placed: readonly PlacedTopic[]): Problem[] {
  const first = placed.find(({ topic }) => topic === one.topic)
  if (!first || first === one) return []
  const wanted = `another topic than ${first.path} has`
  return [{ path: one.path, found: shown(one.topic), wanted, fix: 'give it a topic of its own' }]
}

function transformProblems({ transform, transformWindow, async }: AnyDefinition): Problem[] {
  if (Boolean(transform) === Boolean(transformWindow)) {
    const found = transform ? 'given beside transformWindow' : 'missing'
    return [
      { path: 'transform', found, wanted: 'either transform or transformWindow', fix: 'give exactly one of them' },
    ]
  }
  const concurrency = async && 'concurrency' in async ? async.concurrency : undefined
  if (transform && async) return check.wholeNumber('async.concurrency', concurrency ?? 0, 1, 1_000)
  if (concurrency === undefined) return []
  const wanted = 'nothing beside transformWindow, which is one call'
  return [{ path: 'async.concurrency', found: shown(concurrency), wanted, fix: 'remove it' }]
}

function rejectionProblems({ onError, deadLetters }: AnyDefinition): Problem[] {
  if (onError === 'dead-letter' && !deadLetters) {
    const wanted = "a topic, because onError is 'dead-letter'"
    return [{ path: 'deadLetters', found: 'missing', wanted, fix: "add deadLetters: topic('its-name')" }]
  }
  if (deadLetters && (onError === 'stop' || onError === 'skip')) {
    const wanted = `nothing beside onError: '${onError}', which writes no dead letters`
    return [{ path: 'deadLetters', found: shown(deadLetters.name), wanted, fix: 'remove one of the two' }]
  }
  return check.oneOf('onError', onError, ['dead-letter', 'stop', 'skip'])
}

function limitProblems(definition: AnyDefinition): Problem[] {
  const { window, async, startAt } = definition
  return [
    ...check.wholeNumber('window.records', window?.records, 1, 1_000_000),
    ...check.wholeNumber('window.bytes', window?.bytes, kibibytes(1), mebibytes(512)),
    ...check.wholeNumber('window.ms', window?.ms, 1, minutes(14)),
    ...check.wholeNumber('async.timeoutMs', async?.timeoutMs, 1, minutes(14)),
    ...check.wholeNumber('async.retries', async?.retries, 0, 100),
    ...check.wholeNumber('commitEveryMs', definition.commitEveryMs, 0, minutes(14)),
    ...check.wholeNumber('partitionsPerLane', definition.partitionsPerLane, 1, 10_000),
    ...check.wholeNumber('poisonAttempts', definition.poisonAttempts, 1, 100),
    ...check.oneOf('guarantee', definition.guarantee, ['exactly-once', 'at-least-once', 'none']),
    ...check.oneOf('read', definition.read, ['log', 'event']),
    ...readProblems(definition),
    ...(startAt instanceof Date ? dateProblems(startAt) : check.oneOf('startAt', startAt, ['earliest', 'event'])),
  ]
}

/** An event shows neither aborted nor open transactions (P13): what is built on it can see records that never were. */
function readProblems({ read, guarantee = 'exactly-once' }: AnyDefinition): Problem[] {
  if (read !== 'event' || guarantee !== 'exactly-once') return []
  const wanted = "'log' with guarantee 'exactly-once': an event does not show which of its records were aborted"
  return [{ path: 'read', found: "'event'", wanted, fix: "leave it out, or set guarantee: 'at-least-once'" }]
}

function dateProblems(startAt: Date): Problem[] {
  const startAtMs = startAt.getTime()
  if (startAtMs >= 0) return []
  return [{ path: 'startAt', found: shown(startAt), wanted: 'a date since 1970', fix: "write new Date('2026-01-31')" }]
}
