import { expect, test } from 'vitest'
import { isRelayError } from '../../../lib/errors.ts'
import { parseAddress } from '../../../lib/kafka/connection-config.ts'

test.each([
  ['localhost:9092', 'localhost', 9092],
  ['b-1.shop.kafka.eu-central-1.amazonaws.com:9096', 'b-1.shop.kafka.eu-central-1.amazonaws.com', 9096],
  ['[::1]:9092', '::1', 9092],
])('%s is an address', (address, host, port) => {
  expect(parseAddress(address)).toEqual({ nodeId: -1, host, port })
})

test.each([
  'localhost',
  'localhost:',
  ':9092',
  'localhost:0',
  'localhost:70000',
  '::1:9092',
  'http://a:1',
  'a b:1',
  '',
])('"%s" is not, and the message shows it', (address) => {
  expect(() => parseAddress(address)).toThrow(
    expect.toSatisfy(
      (error) => isRelayError(error) && error.code === 'CONFIG_INVALID' && error.message.includes(address),
    ),
  )
})
