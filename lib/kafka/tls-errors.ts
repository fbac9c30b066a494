/** What an error of a TLS handshake says, by Node's and OpenSSL's codes. */
export type TlsVerdict = 'untrusted' | 'refused' | null

/** We do not trust the broker: its code and the fix. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const untrusted = new Map([
  ['CERT_HAS_EXPIRED', "renew the broker's certificate"],
  ['CERT_NOT_YET_VALID', "the broker's certificate is dated in the future: correct it, or the clocks"],
  ['CERT_REVOKED', "replace the broker's certificate"],
  ['CERT_SIGNATURE_FAILURE', "give the authority that signed the broker's certificate"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'use a broker address that its certificate names, or add this one to it'],
  ...[
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_UNTRUSTED',
    'INVALID_CA',
  ].map((code): [string, string] => [code, "give the authority that signed the broker's certificate"]),
])

/** The broker does not trust us. An alert comes as `ERR_SSL_<OpenSSL's name of it>` (RFC 8446, section 6.2). */
const refusal =
  /^ERR_SSL_.*ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)$/

export function tlsVerdict(error: unknown): TlsVerdict {
  const code = codeOf(error)
  if (untrusted.has(code)) return 'untrusted'
  return refusal.test(code) ? 'refused' : null
}

/** What mends a certificate that is not to be trusted. */
export const trustFix = (error: unknown): string => untrusted.get(codeOf(error)) ?? ''

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
