import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { close, listen } from '../../../lib/local/http-server.ts'
import { deploymentRegistry } from '../../../lib/relay/config/registry.ts'
import { secretReference } from '../../../lib/secrets/secret-reference.ts'
import { cachedSecrets } from '../../../lib/secrets/secrets.ts'

let server: Server
let url: string
let logins: (string | undefined)[]
const taken = `Basic ${btoa('relay:new')}`

beforeEach(async () => {
  logins = []
  server = createServer(({ headers: { authorization } }, response) => {
    logins.push(authorization)
    response.writeHead(authorization === taken ? 200 : 401).end(JSON.stringify({ schema: '"string"' }))
  })
  url = `http://127.0.0.1:${await listen(server, 'the registry of a test')}`
})
afterEach(() => close(server))

const signal = new AbortController().signal

test('a deployment without a registry has none', () => {
  expect(deploymentRegistry(null)).toBeNull()
})

test('a login in a secret is read by the first question, kept, and read again when it is refused', async () => {
  const passwords = ['old', 'new']
  let reads = 0
  const store = { read: async () => JSON.stringify({ username: 'relay', password: passwords[reads++] ?? 'new' }) }
  const registry = deploymentRegistry({ url, login: secretReference('ssm:/registry') }, cachedSecrets(store))
  expect(reads).toBe(0)
  await registry?.byId(1, signal)
  await registry?.byId(2, signal)
  expect(reads).toBe(2)
  expect(logins).toEqual([`Basic ${btoa('relay:old')}`, taken, taken])
})

test('a login in the settings is shown as it is', async () => {
  const registry = deploymentRegistry({ url, login: { username: 'relay', password: 'new' } })
  await registry?.byId(1, signal)
  expect(logins).toEqual([taken])
})
