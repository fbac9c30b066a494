import { expect, test } from 'vitest'
import { securityEnvironment } from '../../../lib/cli/security-options.ts'

test('what a command line does not say is left to the environment', () => {
  expect(securityEnvironment({})).toEqual({})
})

test('a login by name and password takes the place of a secret, and the other way round', () => {
  expect(securityEnvironment({ sasl: 'plain', username: 'ann', passwordFile: 'p' })).toEqual({
    FENCEPOST_SASL_MECHANISM: 'plain',
    FENCEPOST_SASL_USERNAME: 'ann',
    FENCEPOST_SASL_PASSWORD: 'p',
    FENCEPOST_SASL_SECRET: '',
  })
  expect(securityEnvironment({ saslSecret: 'ssm:/kafka' })).toEqual({
    FENCEPOST_SASL_USERNAME: '',
    FENCEPOST_SASL_PASSWORD: '',
    FENCEPOST_SASL_SECRET: 'ssm:/kafka',
  })
})

test('certificates in files take the place of those in secrets', () => {
  expect(securityEnvironment({ tls: true, tlsCa: 'ca', tlsCertificate: 'c', tlsKey: 'k' })).toEqual({
    FENCEPOST_TLS: 'true',
    FENCEPOST_TLS_CA: 'ca',
    FENCEPOST_TLS_CA_SECRET: '',
    FENCEPOST_TLS_CERTIFICATE: 'c',
    FENCEPOST_TLS_KEY: 'k',
    FENCEPOST_TLS_CLIENT_SECRET: '',
  })
})
