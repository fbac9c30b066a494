import { expect, test } from 'vitest'
import { parseSecretReference, secretReference } from '../../../lib/secrets/secret-reference.ts'

test.each([
  ['secretsmanager:shop/kafka', 'secretsmanager', 'shop/kafka'],
  [
    'secretsmanager:arn:aws:secretsmanager:eu-west-1:123456789012:secret:kafka-AbCdEf',
    'secretsmanager',
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:kafka-AbCdEf',
  ],
  [
    'arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:kafka-AbCdEf',
    'secretsmanager',
    'arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:kafka-AbCdEf',
  ],
  ['ssm:/shop/kafka', 'ssm', '/shop/kafka'],
  [
    'arn:aws:ssm:eu-west-1:123456789012:parameter/shop/kafka',
    'ssm',
    'arn:aws:ssm:eu-west-1:123456789012:parameter/shop/kafka',
  ],
])('%s names a secret of %s', (text, service, id) => {
  expect(parseSecretReference(text)).toEqual({ service, id, text })
})

test.each([
  '',
  'hunter2',
  'ssm:',
  'ssm:a b',
  'secretsmanager',
  'arn:aws:s3:::bucket',
  'arn:aws:ssm:eu-west-1:1:document/x',
])('%j names none', (text) => {
  expect(parseSecretReference(text)).toBeNull()
  expect(() => secretReference(text)).toThrow('names no secret')
})
