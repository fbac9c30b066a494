import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mskIamToken } from '../../../lib/secrets/msk-iam-token.ts'

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIATEST')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2')
  vi.stubEnv('AWS_SESSION_TOKEN', 'session')
})
afterEach(() => vi.unstubAllEnvs())

test("a token is a signed request to connect to the region's clusters, with the function's own credentials", async () => {
  const url = new URL(Buffer.from(await mskIamToken({ AWS_REGION: 'eu-west-1' }), 'base64url').toString())
  expect(url.host).toBe('kafka.eu-west-1.amazonaws.com')
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    Action: 'kafka-cluster:Connect',
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': expect.stringMatching(/^AKIATEST\/\d{8}\/eu-west-1\/kafka-cluster\/aws4_request$/),
    'X-Amz-Expires': '900',
    'X-Amz-Security-Token': 'session',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(String(url)).not.toContain('hunter2')
})

test('without a region it says so', async () => {
  await expect(mskIamToken({})).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
