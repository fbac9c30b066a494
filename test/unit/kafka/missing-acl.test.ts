import { describe, expect, test } from 'vitest'
import { operations } from '../../../lib/kafka/errors.ts'
import { denied, missingAcl, missingAclText } from '../../../lib/kafka/missing-acl.ts'

const names = { topic: 'orders', group: 'shop.copy', transactionalId: 'shop.copy.orders.0' }
const textOf = (operation: (typeof operations)[number], code: number) => {
  const missing = missingAcl(operation, code, names)
  return missing && missingAclText(missing)
}

describe('a refusal names operation, resource and name of the ACL that is missing', () => {
  test.each([
    ['Fetch', 29, "Read on topic 'orders'"],
    ['Produce', 29, "Write on topic 'orders'"],
    ['AddPartitionsToTxn', 29, "Write on topic 'orders'"],
    ['TxnOffsetCommit', 29, "Read on topic 'orders'"],
    ['TxnOffsetCommit', 30, "Read on group 'shop.copy'"],
    ['AddOffsetsToTxn', 30, "Read on group 'shop.copy'"],
    ['InitProducerId', 53, "Write on transactional id 'shop.copy.orders.0'"],
    ['InitProducerId', 31, "IdempotentWrite on cluster 'kafka-cluster'"],
    ['EndTxn', 53, "Write on transactional id 'shop.copy.orders.0'"],
  ] as const)('%s, code %d', (operation, code, expected) => {
    expect(textOf(operation, code)).toBe(`this user lacks the ACL ${expected}`)
  })

  test.each([
    ['Metadata', 29, "Describe on topic 'orders', which Read (of a source) or Write (of an output) on it includes"],
    ['FindCoordinator', 30, "Describe on group 'shop.copy', which Read on it includes"],
    ['FindCoordinator', 53, "Describe on transactional id 'shop.copy.orders.0', which Write on it includes"],
  ] as const)('%s, code %d: with the ACL that includes it', (operation, code, expected) => {
    expect(textOf(operation, code)).toBe(`this user lacks the ACL ${expected}`)
  })

  test('every request is checked for something, and none for what it does not name', () => {
    for (const operation of operations) {
      const found = [29, 30, 31, 53].filter((code) => missingAcl(operation, code, names) !== null)
      expect(found.length, operation).toBeGreaterThan(0)
    }
    expect(missingAcl('Metadata', 30, names)).toBeNull()
    expect(missingAcl('Fetch', 0, names)).toBeNull()
    expect(missingAcl('Fetch', 33, names)).toBeNull()
  })

  test('one whose name the request does not tell is named by its kind', () => {
    const missing = missingAcl('TxnOffsetCommit', 30, { topic: 'orders' })
    expect(missing && missingAclText(missing)).toBe('this user lacks the ACL Read on a group')
  })
})

test('the error has the fix in its message and the ACL in its context', () => {
  const error = denied('Fetch of orders-0', 'Fetch', 29, { topic: 'orders' })
  expect(error).toMatchObject({ code: 'NOT_AUTHORIZED', disposition: 'fix-config', outcome: 'not-applied' })
  expect(error.message).toContain(
    "Fetch of orders-0 was answered TOPIC_AUTHORIZATION_FAILED (29): this user lacks the ACL Read on topic 'orders'; allow it (docs/operations/acls.md)",
  )
  expect(error.context.missingAcl).toEqual({ operation: 'Read', resource: 'topic', name: 'orders' })
})
