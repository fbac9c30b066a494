import type { RelayError } from '../../lib/errors.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { type MissingAcl, missingAclText } from '../../lib/kafka/missing-acl.ts'
import { type KafkaAcl, kafkaAcls } from '../../lib/preflight/acls.ts'
import { readRights } from '../../lib/preflight/facts/read-rights.ts'
import { within } from '../helpers/kafka-client.ts'
import { type Grant, grant, revoke } from './granted-acls.ts'
import { copyRelay, type GuardedRelay, prefix } from './guarded-relay.ts'

/** How an ACL is missing: for a container that has never seen the cluster, for one at work, or but for Describe. */
export const ways = ['cold', 'describe left', 'warm'] as const
export type Way = (typeof ways)[number]

export interface CaseResult {
  readonly acl: string
  readonly required: boolean
  readonly way: Way | 'at least once'
  readonly ok: boolean
  /** What the relay said, or what is wrong. */
  readonly said: string
}

export const acls: readonly KafkaAcl[] = kafkaAcls(copyRelay, prefix)
export const textOf = ({ operation, resource, name }: Grant): string => `${operation} on ${resource} '${name}'`

/** With all of them the relay works; preflight finds each, and nothing wrong: what this user may not see is unknown. */
export async function withAll(relay: GuardedRelay, admin: Cluster): Promise<CaseResult> {
  for (const acl of acls) await grant(admin, acl)
  await relay.write()
  const error = await relay.tryToRelay(await relay.container())
  const { lost, duplicated } = await relay.compare()
  const refused = (await rights(relay)).filter(({ granted }) => !granted.told || !granted.value)
  const { checks } = await relay.preflight()
  const notFine = checks.filter(
    ({ status, about }) => status !== 'ok' && !(status === 'unknown' && about.startsWith('__')),
  )
  const wrong = [
    ...(error ? [error.message] : []),
    ...(lost + duplicated > 0 ? [`${lost} lost, ${duplicated} doubled`] : []),
    ...notFine.map(({ id, about, found }) => `preflight says ${id} of ${about}: ${found}`),
    ...refused.map((right) => `preflight does not find ${textOf(right.acl)}`),
  ]
  return { acl: 'all', required: true, way: 'cold', ok: wrong.length === 0, said: wrong.join('; ') || 'works' }
}

/** The guarantees below exactly-once write by a plain idempotent producer: it needs nothing more (KIP-679). */
export async function atLeastOnce(relay: GuardedRelay): Promise<CaseResult> {
  await relay.write()
  const error = await relay.tryToRelay(await relay.container('at-least-once'))
  const { lost } = await relay.compare()
  const ok = error === null && lost === 0
  return {
    acl: 'all',
    required: true,
    way: 'at least once',
    ok,
    said: error?.message ?? (ok ? 'works' : `${lost} lost`),
  }
}

/** One is taken away, something is written, the relay is rung; then it is given back, and nothing may be lost or doubled. */
export async function without(relay: GuardedRelay, admin: Cluster, acl: KafkaAcl, way: Way): Promise<CaseResult> {
  const runtime = await relay.container()
  if (way === 'warm') await works(relay, runtime)
  const left: Grant = { ...acl, operation: 'Describe' }
  if (way === 'describe left') await grant(admin, left)
  await revoke(admin, acl)
  await relay.write()
  const error = await relay.tryToRelay(runtime)
  const isNamed = (await rights(relay)).some(
    (right) => textOf(right.acl) === textOf(acl) && right.granted.told && !right.granted.value,
  )
  const before = await relay.compare()
  await grant(admin, acl)
  if (way === 'describe left') await revoke(admin, left)
  const after = await relay.tryToRelay(await relay.container())
  const { lost, duplicated } = await relay.compare()
  const wrong = [
    ...(acl.required ? wrongWith(error, before, acl, way) : error ? [`optional, but: ${error.message}`] : []),
    ...(isNamed ? [] : ['preflight does not name it']),
    ...(after ? [`given back, it still fails: ${after.message}`] : []),
    ...(lost + duplicated > 0 ? [`${lost} lost, ${duplicated} doubled`] : []),
  ]
  const said = wrong.join('; ') || (error ? error.message : 'works on defaults; preflight warns')
  return { acl: textOf(acl), required: acl.required, way, ok: wrong.length === 0, said }
}

const written = 3

function wrongWith(error: RelayError | null, { lost }: { readonly lost: number }, acl: KafkaAcl, way: Way): string[] {
  if (error === null) return ['it works all the same']
  const isHeldBack = lost === written ? [] : [`${written - lost} of ${written} records were relayed all the same`]
  return [...isHeldBack, ...(names(error, acl, way) ? [] : [`the message does not name it: ${error.message}`])]
}

/** Refused at the door, a request cannot know whether Describe or what includes it is missing; the message says both. */
function names(error: RelayError, acl: KafkaAcl, way: Way): boolean {
  const missing = error.context.missingAcl as MissingAcl | undefined
  const isOfResource = missing?.resource === acl.resource && namesIt(acl, missing.name)
  if (!isOfResource || error.code !== 'NOT_AUTHORIZED') return false
  const isExact = missing.operation === acl.operation
  const isIncluded = missing.operation === 'Describe' && missingAclText(missing).includes(acl.operation)
  return error.message.includes(missingAclText(missing)) && (isExact || (way !== 'describe left' && isIncluded))
}

const namesIt = ({ name, pattern }: KafkaAcl, found: string | null): boolean =>
  pattern === 'prefixed' ? (found?.startsWith(name) ?? false) : found === name

async function works(relay: GuardedRelay, runtime: Awaited<ReturnType<GuardedRelay['container']>>): Promise<void> {
  await relay.write()
  const error = await relay.tryToRelay(runtime)
  if (error) throw error
}

const rights = (relay: GuardedRelay) => readRights(relay.login(), prefix, [copyRelay], within(10_000))
