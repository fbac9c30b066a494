import { describe, expect, test } from 'vitest'
import { aclCommand, kafkaAcls } from '../../../lib/preflight/acls.ts'
import { aclReference } from '../../../lib/preflight/acls-reference.ts'
import { commitGroup, transactionalId } from '../../../lib/transaction/ids.ts'
import delays from '../../../relays/delays.ts'

test('docs/operations/acls.md says what the generator says (npx vitest -u writes it)', async () => {
  const text = aclReference(delays, 'shop-prod', 'relays/delays.ts')
  await expect(text).toMatchFileSnapshot('../../../docs/operations/acls.md')
})

describe('the ACLs of a relay', () => {
  const acls = kafkaAcls(delays, 'shop')
  const named = (resource: string) => acls.filter((acl) => acl.resource === resource && acl.required)

  test('let it read its source and write its outputs, and neither the other way round', () => {
    expect(named('topic').map(({ operation, name }) => [operation, name])).toEqual([
      ['Read', 'flights'],
      ['Write', 'flights.late'],
      ['Write', 'flights.on-time'],
      ['Write', 'flights.dead'],
    ])
  })

  test('cover the transactional id of every lane, and of no other prefix, relay or topic', () => {
    const [acl] = named('transactional id')
    const covers = (id: string) => acl?.pattern === 'prefixed' && id.startsWith(acl.name)
    expect([0, 7, 95].every((lane) => covers(transactionalId('shop', 'delays', 'flights', lane)))).toBe(true)
    expect(covers(transactionalId('shop2', 'delays', 'flights', 0))).toBe(false)
    expect(covers(transactionalId('shop', 'delays2', 'flights', 0))).toBe(false)
    expect(covers(transactionalId('shop', 'delays', 'flights2', 0))).toBe(false)
  })

  test('cover the commit group alone', () => {
    expect(named('group')).toMatchObject([
      { operation: 'Read', name: commitGroup('shop', 'delays'), pattern: 'literal' },
    ])
  })

  test('are commands for kafka-acls.sh, with the pattern that they mean', () => {
    expect(
      acls
        .filter(({ required }) => required)
        .map((acl) => aclCommand(acl, 'User:a'))
        .slice(-2),
    ).toEqual([
      'kafka-acls.sh --add --allow-principal User:a --operation Write --transactional-id shop.delays.flights. --resource-pattern-type prefixed',
      'kafka-acls.sh --add --allow-principal User:a --operation Read --group shop.delays',
    ])
  })
})
