import { describe, expect, it } from 'vitest'
import { kafkaErrorCodes } from '../../../../lib/kafka/error-codes.ts'
import { codes } from '../../../../lib/testing/broker-model/codes.ts'

describe('codes', () => {
  it.each(Object.entries(codes))('%s is what Kafka calls it', (name, code) => {
    expect(kafkaErrorCodes).toContainEqual(expect.arrayContaining([code, name]))
  })
})
