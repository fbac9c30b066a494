import fc from 'fast-check'
import { AssignerProtocol } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import {
  assignPartitions,
  decodeAssignment,
  encodeAssignment,
  encodeSubscription,
} from '../../../../lib/local/esm-poller/group-protocol.ts'

describe('what members tell each other', () => {
  test('an independent client reads our subscription and our assignment', () => {
    const subscription = AssignerProtocol.MemberMetadata.decode(encodeSubscription('orders-ä'))
    expect(subscription).toMatchObject({ version: 0, topics: ['orders-ä'] })
    const assignment = AssignerProtocol.MemberAssignment.decode(encodeAssignment('orders', [0, 3, 70_000]))
    expect(assignment).toMatchObject({ version: 0, assignment: { orders: [0, 3, 70_000] } })
  })

  test('we read an assignment that an independent client wrote, other topics before ours included', () => {
    const assignment = { other: [1, 2], orders: [5] }
    const bytes = AssignerProtocol.MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) })
    expect(decodeAssignment(bytes, 'orders')).toEqual([5])
    expect(() => decodeAssignment(bytes, 'absent')).toThrow('give the mapping a group of its own')
  })

  test('a member that was left out has no partitions', () => {
    expect(decodeAssignment(Buffer.alloc(0), 'orders')).toEqual([])
  })
})

test('every partition has exactly one owner, shares differ by one at most, and the order of members is irrelevant', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(ids, fc.nat({ max: 40 }), (members, count) => {
      const shares = assignPartitions(members, count)
      const sizes = [...shares.values()].map((partitions) => partitions.length)
      expect([...shares.values()].flat().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n))
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      expect(assignPartitions([...members].reverse(), count)).toEqual(shares)
    }),
  )
})
