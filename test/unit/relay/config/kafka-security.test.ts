import { expect, test } from 'vitest'
import { kafkaSecurity } from '../../../../lib/relay/config/kafka-security.ts'
import { secretReference } from '../../../../lib/secrets/secret-reference.ts'
import { cachedSecrets } from '../../../../lib/secrets/secrets.ts'

/** Secrets by name, to be changed under a warm container. */
const storeOf = (texts: Record<string, unknown>) => ({
  read: async ({ id }: { id: string }) => {
    const text = texts[id]
    return typeof text === 'string' ? text : JSON.stringify(text)
  },
})

const login = { mechanism: 'scram-sha-512', secret: secretReference('secretsmanager:login') } as const
const named = {
  sasl: login,
  tlsCa: secretReference('ssm:ca'),
  tlsClient: secretReference('secretsmanager:client'),
}

test('secrets in the shape that event source mappings take fill in login, authority and client certificate', async () => {
  const client = { certificate: 'CERT', privateKey: 'KEY', privateKeyPassword: 'phrase' }
  const store = storeOf({ login: { username: 'ann', password: 'one' }, ca: { certificate: 'CA' }, client })
  expect(await kafkaSecurity({ tls: true }, named, cachedSecrets(store)).current()).toEqual({
    tls: { ca: 'CA', cert: 'CERT', key: 'KEY', passphrase: 'phrase' },
    sasl: { mechanism: 'scram-sha-512', username: 'ann', password: 'one' },
  })
})

test('an authority may be plain PEM, beside settings that are no secret', async () => {
  const store = storeOf({ ca: '-----BEGIN CERTIFICATE-----' })
  const source = kafkaSecurity({ tls: { cert: 'c', key: 'k' } }, { tlsCa: named.tlsCa }, cachedSecrets(store))
  expect(await source.current()).toEqual({ tls: { cert: 'c', key: 'k', ca: '-----BEGIN CERTIFICATE-----' } })
})

test('after a refusal only what has changed is different, and a refusal without a change is final', async () => {
  const texts = { login: { username: 'ann', password: 'one' }, ca: 'CA' }
  const source = kafkaSecurity({ tls: true }, { sasl: login, tlsCa: named.tlsCa }, cachedSecrets(storeOf(texts)))
  const first = await source.current()
  expect(await source.renewed(first)).toBeNull()
  texts.login.password = 'two'
  const second = await source.renewed(first)
  expect(second).toMatchObject({ tls: { ca: 'CA' }, sasl: { password: 'two' } })
  expect(await source.current()).toEqual(second)
  expect(await source.renewed(second ?? {})).toBeNull()
})

test('what is missing in a secret is named by its field; no value is shown', async () => {
  const source = kafkaSecurity({ tls: true }, { sasl: login }, cachedSecrets(storeOf({ login: { user: 'hunter2' } })))
  const error = await source.current().catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
  expect(String(error)).toContain('secret secretsmanager:login has no username and no password')
  expect(String(error)).not.toContain('hunter2')
})
