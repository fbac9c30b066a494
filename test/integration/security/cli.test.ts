import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fencepost, moduleOf } from '../../helpers/fencepost-command.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { type SecuredKafka, startSecuredKafka } from '../../helpers/secured-kafka.ts'

let dir: string
let kafka: SecuredKafka
let files: Readonly<Record<'ca' | 'certificate' | 'key' | 'password' | 'wrong', string>>

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-cli-security-'))
  kafka = await startSecuredKafka(dir)
  const client = kafka.authority.issue({ name: 'operator' })
  files = {
    ca: await write('authority.pem', kafka.ca),
    certificate: await write('operator.pem', client.certificate),
    key: await write('operator.key', client.privateKey),
    password: await write('password', 'secret\n'),
    wrong: await write('wrong', 'hunter2-51ab\n'),
  }
})
afterAll(async () => {
  await kafka?.stop()
  await rm(dir, { recursive: true, force: true })
})

async function write(name: string, text: string): Promise<string> {
  const file = join(dir, name)
  await writeFile(file, text)
  return file
}

/** As an operator types it who is told where the cluster is by the command line alone. */
async function run(world: RelayWorld, listener: string, ...args: readonly string[]) {
  return fencepost(world, await moduleOf(world), [...args, '--brokers', listener])
}

describe('an operator', () => {
  test('logs in by password or certificate, given in files', async () => {
    const world = await relayWorld({ brokers: [kafka.plain] })
    const values = await world.produce(3)
    const login = ['--tls', '--tls-ca', files.ca, '--sasl', 'scram-sha-512', '--username', 'eve']
    const drained = await run(world, kafka.saslTls, 'drain', ...login, '--password-file', files.password, '--json')
    expect(drained).toMatchObject({ code: 0, json: { ok: true, counts: { records: 3 } } })
    expect(await world.delivered()).toEqual(values)

    const facts = ['preflight', ...login, '--password-file', files.password, '--accept-weak-topics', '--json']
    const { json } = await run(world, kafka.saslTls, ...facts)
    expect(json.checks).toContainEqual(expect.objectContaining({ id: expect.stringContaining('broker'), status: 'ok' }))

    const certificate = ['--tls', '--tls-ca', files.ca, '--tls-certificate', files.certificate, '--tls-key', files.key]
    const seen = await run(world, kafka.mutualTls, 'status', ...certificate, '--json')
    expect(seen).toMatchObject({ code: 0, json: { ok: true, lanes: [{ lag: '0' }] } })
  })

  test('is told what is wrong with a login, and no password is shown', async () => {
    const world = await relayWorld({ brokers: [kafka.plain] })
    const login = [
      '--tls',
      '--tls-ca',
      files.ca,
      '--sasl',
      'plain',
      '--username',
      'ann',
      '--password-file',
      files.wrong,
    ]
    const refused = await run(world, kafka.saslTls, 'status', ...login, '--json')
    expect(refused).toMatchObject({ code: 1, json: { ok: false, code: 'AUTHENTICATION_FAILED' } })
    expect(refused.stdout + refused.stderr).not.toContain('hunter2')

    const stranger = await run(world, kafka.tls, 'status', '--tls', '--json')
    expect(stranger).toMatchObject({ code: 1, json: { code: 'BROKER_UNTRUSTED' } })

    const half = await run(world, kafka.saslTls, 'status', '--tls', '--username', 'ann')
    expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining('FENCEPOST_SASL_MECHANISM is missing') })

    const unread = await run(world, kafka.saslTls, 'status', '--password-file', join(dir, 'none'))
    expect(unread).toMatchObject({ code: 2, stderr: expect.stringContaining('it cannot be read') })
  })
})
