import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createAwsSecretStore } from '../../../lib/secrets/aws-secret-store.ts'
import { secretReference } from '../../../lib/secrets/secret-reference.ts'
import { type AwsSecrets, startAwsSecrets } from '../../helpers/aws-secrets.ts'

const arn = 'arn:aws:ssm:eu-west-1:123456789012:parameter/shop/ca'
let aws: AwsSecrets

beforeAll(async () => {
  aws = await startAwsSecrets({ 'shop/kafka': 'one', '/shop/kafka': 'two', [arn]: 'three', 'shop/empty': '' })
})
afterAll(() => aws.stop())
beforeEach(() => {
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value)
})
afterEach(() => {
  aws.fail(null)
  vi.unstubAllEnvs()
})

const read = (text: string) => createAwsSecretStore().read(secretReference(text))

test.each([
  ['secretsmanager:shop/kafka', 'one'],
  ['ssm:/shop/kafka', 'two'],
  [arn, 'three'],
])('%s is read by the AWS SDK', async (reference, text) => {
  expect(await read(reference)).toBe(text)
})

test.each([
  ['secretsmanager:shop/none', 'create it, or correct its name or region'],
  ['ssm:/shop/none', 'create it, or correct its name or region'],
  ['secretsmanager:shop/empty', 'store it as text or JSON'],
])('%s, which gives nothing, waits for somebody to mend it', async (reference, fix) => {
  await expect(read(reference)).rejects.toMatchObject({
    code: 'SECRET_UNREADABLE',
    disposition: 'fix-config',
    message: expect.stringContaining(fix),
  })
})

test.each([
  ['AccessDeniedException', 'fix-config', 'allow the role to read it'],
  ['ThrottlingException', 'retry', 'ThrottlingException'],
  ['InternalServiceError', 'retry', 'InternalServiceError'],
])('%s comes to %s', async (name, disposition, words) => {
  aws.fail(name)
  await expect(read('secretsmanager:shop/kafka')).rejects.toMatchObject({
    code: 'SECRET_UNREADABLE',
    disposition,
    message: expect.stringContaining(words),
  })
})
