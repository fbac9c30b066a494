import type { Facts, RightFacts } from '../facts/facts.ts'
import { type Finding, fail, ok, type Subject, unknown, warn } from '../finding.ts'

/** Whether this user has the ACLs that docs/operations/acls.md lists. */
export function rightChecks({ cluster, rights }: Facts): readonly Finding[] {
  if (rights.told) return rights.value.map(ofRight)
  return cluster.told ? [unknown({ id: 'acl.all', about: 'ACLs', what: 'all', wanted: 'allowed' }, rights.why)] : []
}

function ofRight({ acl: { operation, resource, name, required, why }, granted }: RightFacts): Finding {
  const what = `ACL ${operation} on ${resource}`
  const subject: Subject = { id: idOf(resource), about: name, what, wanted: `allowed: ${why}` }
  if (!granted.told) return unknown(subject, granted.why)
  if (granted.value) return ok(subject, 'allowed')
  const fix = `allow ${operation} on ${resource} '${name}' to this user: docs/operations/acls.md`
  return (required ? fail : warn)(subject, 'refused', fix)
}

const idOf = (resource: string): string => `acl.${resource.replaceAll(' ', '-')}`
