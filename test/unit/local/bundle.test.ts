import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleFunction, bundleRelay } from '../../../lib/local/bundle.ts'

const run = promisify(execFile)
const relayModule = join(import.meta.dirname, '../../../relays/delays.ts')
const packages = join(import.meta.dirname, '../../../node_modules')
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-bundle-'))
  await symlink(packages, join(dir, 'node_modules'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** What a new process prints that loads `file` and then runs `code`; `loaded` is its module. */
async function inNewProcess(file: string, code: string): Promise<unknown> {
  const script = `const loaded = await import('${pathToFileURL(file).href}'); console.log(JSON.stringify(${code}))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env: {} })
  return JSON.parse(stdout)
}

async function bundled(name: string, source: string): Promise<string> {
  const entry = join(dir, `${name}.ts`)
  await writeFile(entry, source)
  return (await bundleFunction(entry, join(dir, name))).file
}

describe('the bundle of a relay', () => {
  test('loads no part of Node that only an export nobody uses would need, and no locales', async () => {
    const { file } = await bundleRelay(relayModule, 'relay', join(dir, 'relay'))
    const modules = await inNewProcess(file, '[typeof loaded.handler, ...process.moduleLoadList]')
    expect(modules).toContain('function')
    expect(modules).not.toContain('NativeModule internal/deps/undici/undici')
    expect(modules).not.toContain('NativeModule http2')
  })

  test('keeps what it may never need in files that are not read: the other clients of AWS, sources of credentials', async () => {
    const outDir = join(dir, 'pull')
    const { file, bytes } = await bundleRelay(relayModule, 'pull', outDir)
    const files = await filesAtStart(file)
    const code = (await Promise.all(files.map((one) => readFile(one, 'utf8')))).join('')
    for (const late of ['sourceMappingURL', 'SSOTokenProviderFailure', 'AssumeRoleWithWebIdentity'])
      expect(code.includes(late), late).toBe(false)
    expect(code.length).toBeLessThan(700_000)
    expect(bytes).toBeGreaterThan(code.length)
  })
})

/** The module and all that it imports at once. */
async function filesAtStart(file: string, known = new Set<string>()): Promise<string[]> {
  if (known.has(file)) return []
  known.add(file)
  const code = await readFile(file, 'utf8')
  const imports = code.matchAll(/\b(?:from|import)"(\.[^"]+)"/g)
  for (const [, path = ''] of imports) await filesAtStart(join(file, '..', path), known)
  return [...known]
}

describe("Node's own modules in a bundle", () => {
  test('are there by name, by namespace, by default and by a late import', async () => {
    const file = await bundled(
      'imports',
      `import { isIP } from 'node:net'
       import * as zlib from 'zlib'
       import path, { join } from 'node:path'
       import { EventEmitter } from 'node:events'
       import Emitter from 'events'
       import process from 'node:process'
       class Mine extends EventEmitter {}
       process.exitCode = 0
       export const found = async () => {
         const { createHash } = await import('node:crypto')
         return {
           ip: isIP('::1'),
           unzipped: zlib.gunzipSync(zlib.gzipSync('text')).toString(),
           paths: [path.join('a', 'b'), join('c', 'd')],
           isEmitter: new Mine() instanceof Emitter,
           hash: createHash('md5').update('').digest('hex'),
         }
       }`,
    )
    expect(await inNewProcess(file, 'await loaded.found()')).toEqual({
      ip: 6,
      unzipped: 'text',
      paths: ['a/b', 'c/d'],
      isEmitter: true,
      hash: 'd41d8cd98f00b204e9800998ecf8427e',
    })
  })

  test('are loaded when something of them is first used, not before', async () => {
    const file = await bundled(
      'late',
      `import { connect } from 'node:tls'
       export const loadedNow = () => process.moduleLoadList.includes('NativeModule tls')
       export const use = () => typeof connect`,
    )
    expect(await inNewProcess(file, '[loaded.loadedNow(), loaded.use(), loaded.loadedNow()]')).toEqual([
      false,
      'function',
      true,
    ])
  })
})

describe('kafkajs in a bundle', () => {
  test('authenticates with the newest requests that both sides have', async () => {
    const file = await bundled(
      'authenticator',
      `import Authenticator from ${JSON.stringify(join(packages, 'kafkajs/src/broker/saslAuthenticator/index.js'))}
       const ask = (handshake) => {
         const { saslHandshake, protocolAuthentication } = new Authenticator({}, {}, { 17: handshake, 36: handshake }, true)
         const { apiKey, apiVersion } = saslHandshake({ mechanism: 'PLAIN' }).request
         return [apiKey, apiVersion, protocolAuthentication({}).request.apiKey]
       }
       export const found = () => [ask({ minVersion: 0, maxVersion: 9 }), ask({ minVersion: 0, maxVersion: 0 })]`,
    )
    expect(await inNewProcess(file, 'loaded.found()')).toEqual([
      [17, 1, 36],
      [17, 0, 36],
    ])
  })

  test('is whole where a relay uses it itself', async () => {
    const file = await bundled(
      'whole',
      `import requests from ${JSON.stringify(join(packages, 'kafkajs/src/protocol/requests/index.js'))}
       import { Kafka } from ${JSON.stringify(join(packages, 'kafkajs/index.js'))}
       export const found = () => [typeof Kafka, requests.requests.Produce.versions.length > 0]`,
    )
    expect(await inNewProcess(file, 'loaded.found()')).toEqual(['function', true])
  })
})

describe('the signer of MSK in a bundle', () => {
  test('is there when it is wanted, and makes nobody else start as CommonJS does', async () => {
    const file = await bundled(
      'signer',
      `import { SignatureV4 } from '@smithy/signature-v4'
       export const isThere = typeof SignatureV4
       export const signer = async () => {
         const { generateAuthToken } = await import('aws-msk-iam-sasl-signer-js')
         return generateAuthToken({ region: 'eu-central-1', awsRoleArn: '' }).then(({ token }) => typeof token, ({ name }) => name)
       }`,
    )
    const env = "Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })"
    expect(await inNewProcess(file, `[loaded.isThere, ${env} && (await loaded.signer())]`)).toEqual([
      'function',
      'string',
    ])
    const atStart = await Promise.all((await filesAtStart(file)).map((one) => readFile(one)))
    expect(Buffer.concat(atStart).length).toBeLessThan(40_000) // 97,000 together
  })
})
