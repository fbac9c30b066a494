import { expect, test } from 'vitest'
import { tlsVerdict, trustFix } from '../../../lib/kafka/tls-errors.ts'

const withCode = (code: string): Error => Object.assign(new Error('of TLS'), { code })

test.each([
  ['CERT_HAS_EXPIRED', "renew the broker's certificate"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'use a broker address that its certificate names'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'give the authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'give the authority'],
])('%s: the broker is not to be trusted', (code, fix) => {
  expect(tlsVerdict(withCode(code))).toBe('untrusted')
  expect(trustFix(withCode(code))).toContain(fix)
})

test.each([
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
])('%s: the broker does not trust us', (code) => {
  expect(tlsVerdict(withCode(code))).toBe('refused')
})

test.each(['ECONNRESET', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', ''])(
  '"%s" says nothing of certificates',
  (code) => {
    expect(tlsVerdict(withCode(code))).toBeNull()
  },
)

test('what is no error of TLS says nothing either', () => {
  expect([new Error('plain'), 'text', null].map(tlsVerdict)).toEqual([null, null, null])
})
