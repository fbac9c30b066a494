/** The bundled function and the commands with a registry that their environment names. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { avro } from '../../../lib/codecs/registry/avro.ts'
import { schemaRegistry } from '../../../lib/codecs/registry/http-registry.ts'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import { createLambdaHost, type LambdaHost } from '../../../lib/local/lambda-host/lambda-host.ts'
import { runCliProcess } from '../../helpers/cli.ts'
import { deploymentEnv } from '../../helpers/deployment-env.ts'
import { runMarker } from '../../helpers/leftovers.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
import { decoded, opened } from '../../helpers/registry-codecs.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { dynamoDbEndpoint, kafkaBrokers, registryUrl } from '../../helpers/stack.ts'
import { appendRecords } from '../../helpers/writing.ts'

const lib = join(import.meta.dirname, '..', '..', '..', 'lib')
let dir: string
let host: LambdaHost

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-registry-'))
  host = createLambdaHost()
  await Promise.all([registryUrl(), kafkaBrokers('4.1'), dynamoDbEndpoint()])
})
afterAll(async () => {
  await host?.stop()
  await rm(dir, { recursive: true, force: true })
})

const schema = { type: 'record', name: 'Point', fields: [{ name: 'x', type: 'int' }] }

const relayModule = (source: string, output: string) => `
import { avro } from ${JSON.stringify(join(lib, 'codecs', 'registry', 'avro.ts'))}
import { defineRelay, topic } from ${JSON.stringify(join(lib, 'index.ts'))}
export default defineRelay({
  name: 'copy',
  source: topic('${source}', avro()),
  outputs: { moved: topic('${output}', avro({ schema: ${JSON.stringify(schema)}, register: true })) },
  transform: ({ value }, { emit }) => emit.moved({ x: value.x + 100 }),
})`

test('a function relays by the registry of its environment, and verify proves it by the same', async () => {
  const world = await relayWorld()
  const { source, output } = world.names
  const registry = schemaRegistry({ url: await registryUrl() })
  const writer = await opened(avro<object>({ schema, register: true }), registry, { topic: source, use: 'encode' })
  const records = [1, 2, 3].map((x) => ({ value: Buffer.from(writer.encode({ x })) }))
  await appendRecords(world.cluster, { topic: source, partition: 0 }, records)

  const module = join(dir, 'relay.mjs')
  await writeFile(module, relayModule(source, output))
  await bundleRelay(module, 'pull', join(dir, 'function'))
  const env = { ...(await deploymentEnv(world)), FENCEPOST_REGISTRY_URL: await registryUrl() }
  const { AWS_REGION: _, ...functionEnv } = env
  const code = { bundleDir: join(dir, 'function') }
  await host.deploy({ name: 'points', code, handler: 'index.handler', timeoutMs: 20_000, env: functionEnv })
  expect(await host.invoke('points', {})).toMatchObject({ status: 'success', payload: { records: 3 } })

  const reader = await opened(avro<object>(), registry, { use: 'decode' })
  const written = await recordsCommitted(world.cluster, output, 1)
  const moved = await Promise.all(written.map(({ value }) => decoded(reader, value ?? Buffer.alloc(0))))
  expect(moved).toEqual([{ x: 101 }, { x: 102 }, { x: 103 }])

  const { [runMarker]: __, ...operator } = process.env
  const verifying = runCliProcess(['verify', '--relay', module, '--complete', '--json'], { ...operator, ...env })
  const { code: exit, stdout } = await verifying.ended
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, verdict: 'proven' })
  expect(exit).toBe(0)
})
