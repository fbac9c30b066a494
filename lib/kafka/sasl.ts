import type { Authenticator, Mechanism } from 'kafkajs'
import type { Credentials } from 'kafkajs/src/network/connection.js'
import type { SaslConfig } from './connection-config.ts'

const LENGTH_BYTES = 4

/** In kafkajs's terms. Its own OAUTHBEARER takes a refusal for success, so that mechanism is done here. */
export function kafkajsSasl(sasl: SaslConfig): Credentials | Mechanism {
  if (sasl.mechanism !== 'oauthbearer') return { ...sasl }
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }): Authenticator => ({
      authenticate: async () => {
        const token = await sasl.token()
        const refusal = await saslAuthenticate({ request: { encode: () => firstMessage(token) }, response: challenge })
        if (refusal) throw new Error(refusal)
      },
    }),
  }
}

/** RFC 7628, section 3.1. */
function firstMessage(token: string): Buffer {
  const text = Buffer.from(`n,,\u0001auth=Bearer ${token}\u0001\u0001`)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeInt32BE(text.length)
  return Buffer.concat([length, text])
}

/** Empty when the token was taken, else why not, as JSON (RFC 7628, section 3.2.2). kafkajs hands over the length too. */
const challenge = {
  decode: (answer: Buffer) => answer.subarray(LENGTH_BYTES),
  parse: (text: Buffer) => text.toString('utf8'),
}
