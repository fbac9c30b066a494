/**
 * Vitest's global set-up of the integration tests: one Kafka of each version, one DynamoDB and one S3 for the whole run,
 * each started when the first test asks for it (stack.ts) and stopped at the end.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { startDynamoDb } from '../../lib/local/dynamodb.ts'
import { close, listen } from '../../lib/local/http-server.ts'
import { startKafka } from '../../lib/local/kafka.ts'
import type { KafkaVersion } from '../../lib/local/kafka-jars.ts'
import { startS3 } from '../../lib/local/s3.ts'
import { startApicurio } from './apicurio.ts'
import { runMarker, untilNothingLeft } from './leftovers.ts'
import { type StackService, testBucket } from './stack.ts'

declare module 'vitest' {
  interface ProvidedContext {
    stackUrl: string
  }
}

interface Service {
  stop(): Promise<void>
}

const startersIn = (dir: string): Record<StackService, () => Promise<Service>> => {
  // Records of tests may be dated long ago: retention would delete them under a test that runs at the wrong moment.
  const config = { 'log.retention.ms': '-1' }
  const kafka = (version: KafkaVersion) => startKafka({ version, dataDir: join(dir, `kafka-${version}`), config })
  return {
    'kafka-4.1': () => kafka('4.1'),
    'kafka-3.9': () => kafka('3.9'),
    dynamodb: () => startDynamoDb(),
    registry: () => startApicurio(join(dir, 'registry.log')),
    s3: () => startS3({ dataDir: join(dir, 's3'), buckets: [testBucket] }),
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runId = randomUUID()
  process.env[runMarker] = runId
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-test-'))
  const starters = startersIn(dir)
  const started = new Map<string, Promise<Service>>()

  async function answer(name: string, response: ServerResponse): Promise<void> {
    const start = starters[name as StackService]
    const service = started.get(name) ?? start()
    started.set(name, service)
    try {
      response.end(JSON.stringify(await service))
    } catch (error) {
      response.writeHead(500).end(messageOf(error))
    }
  }

  const server = createServer((request, response) => void answer((request.url ?? '').slice(1), response))
  project.provide('stackUrl', `http://127.0.0.1:${await listen(server, 'the test stack')}`)

  return async () => {
    await close(server)
    for (const service of await Promise.allSettled(started.values())) {
      if (service.status === 'fulfilled') await service.value.stop()
    }
    await rm(dir, { recursive: true, force: true })
    await untilNothingLeft(runId, systemClock, 10_000)
  }
}
