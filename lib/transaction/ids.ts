import { RelayError } from '../errors.ts'

const NAME_CHARACTERS_MAX = 64
const TOPIC_CHARACTERS_MAX = 249
const NAME = /^[A-Za-z0-9_-]+$/
const TOPIC = /^[A-Za-z0-9._-]+$/

/** Dots are kept out of prefixes and relay names because ids are divided by them. */
export const nameRule = `1 to ${NAME_CHARACTERS_MAX} letters, digits, '_' or '-' (no dots: they divide transactional ids)`
export const isLegalName = (name: string): boolean => name.length <= NAME_CHARACTERS_MAX && NAME.test(name)

const REDRIVE = '-redrive'

/** The name under which a relay's dead letters are sent back: a relay of its own. */
export const redriveName = (relay: string): string => relay + REDRIVE

/** A relay's name leaves room for that of its redrive, and is never one itself. */
export const relayNameRule = `1 to ${NAME_CHARACTERS_MAX - REDRIVE.length} letters, digits, '_' or '-' (no dots: they divide transactional ids), not ending in '${REDRIVE}'`
export const isLegalRelayName = (name: string): boolean =>
  isLegalName(name) && isLegalName(redriveName(name)) && !name.endsWith(REDRIVE)

/** Kafka's own rule (org.apache.kafka.common.internals.Topic). */
export const topicRule = `1 to ${TOPIC_CHARACTERS_MAX} letters, digits, '.', '_' or '-', and not '.' or '..'`
export const isLegalTopic = (topic: string): boolean =>
  topic.length <= TOPIC_CHARACTERS_MAX && TOPIC.test(topic) && topic !== '.' && topic !== '..'

/**
 * The transactional id of one lane: `<prefix>.<relay>.<topic>.<lane>`, stable for ever (R4).
 *
 * Two different lanes never share an id: prefix and relay hold no dot, and the lane is digits only, so the first two
 * dots and the last one divide the id even when the topic has dots of its own.
 * @throws RelayError CONFIG_INVALID
 */
export function transactionalId(prefix: string, relay: string, topic: string, lane: number): string {
  checkTopic(topic)
  if (!Number.isSafeInteger(lane) || lane < 0) {
    throw new RelayError('CONFIG_INVALID', `lane ${lane} is not a whole number from 0 on`)
  }
  return `${commitGroup(prefix, relay)}.${topic}.${lane}`
}

/**
 * The commit group of a relay: `<prefix>.<relay>`. Relay-owned and without members; the trigger's group must be another
 * one, because the event source mapping commits to it by itself.
 * @throws RelayError CONFIG_INVALID
 */
export function commitGroup(prefix: string, relay: string): string {
  checkName('prefix', prefix)
  checkName('relay name', relay)
  return `${prefix}.${relay}`
}

function checkName(what: string, name: string): void {
  if (isLegalName(name)) return
  throw new RelayError('CONFIG_INVALID', `${what} '${name}' must have ${nameRule}; rename it`)
}

function checkTopic(topic: string): void {
  if (isLegalTopic(topic)) return
  throw new RelayError('CONFIG_INVALID', `topic '${topic}' must have ${topicRule}`)
}
