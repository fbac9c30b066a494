import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemClock, systemRandom } from '../../clock.ts'
import { createDynamoDbFenceStore } from '../../fencing/dynamodb-fence-store.ts'
import { createCluster } from '../../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../kafka/kafkajs-transport.ts'
import { functionHost } from '../deploy-relay.ts'
import { type Stack, type StackOptions, startStack } from '../stack.ts'
import { type DevPlace, DevRelay, type DevSettings } from './dev-relay.ts'
import { ensureTopics } from './dev-topics.ts'
import { type RelayModule, readRelayModule } from './relay-module.ts'
import { RelayNames } from './relay-names.ts'

export interface DevOptions extends StackOptions {
  /** Modules whose default exports are relays; none: the stack alone. */
  readonly relays: readonly string[]
  readonly settings: DevSettings
  readonly signal: AbortSignal
  /** One line for each thing that happens. */
  say(line: string): void
}

export interface Dev {
  readonly stack: Stack
  readonly relays: readonly Pick<DevRelay, 'path' | 'relay' | 'functionName' | 'generation'>[]
  stop(): Promise<void>
}

/** What runs at a stop may end by itself, so that no transaction is left open in a cluster that goes on. */
const graceMs = 3_000

/**
 * The local stack, and relays on it as they are deployed: bundled with their real entry points, in a Lambda host, rung by
 * an event source mapping or a schedule, deployed anew when their files change.
 *
 * @throws RelayError CONFIG_INVALID: a relay module; TOPIC_MISSING; LOCAL_STACK and BROKER_UNAVAILABLE as startStack does.
 * Then nothing is left running.
 */
export async function startDev(options: DevOptions): Promise<Dev> {
  const workDir = join(resolve(options.dir), 'functions')
  const names = new RelayNames()
  const modules = await readModules(options.relays, names, workDir)
  const stack = await startStack(options)
  if (modules.length === 0) return { stack, relays: [], stop: stack.stop }
  const place = placeOn(stack, options, names, workDir)
  const relays = modules.map(([path, module]) => new DevRelay(place, path, module))
  const stop = () => stopAll(place, relays)
  try {
    await rm(workDir, { recursive: true, force: true })
    const made = await ensureTopics(
      place.cluster,
      relays.map(({ relay }) => relay),
      options.settings.topicPartitions,
    )
    for (const name of made) options.say(`made topic ${name}`)
    for (const relay of relays) {
      options.signal.throwIfAborted()
      await relay.start()
    }
    options.signal.throwIfAborted()
    return { stack, relays, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Before anything is started: most mistakes are made here. */
async function readModules(
  paths: readonly string[],
  names: RelayNames,
  workDir: string,
): Promise<readonly (readonly [string, RelayModule])[]> {
  const modules: (readonly [string, RelayModule])[] = []
  for (const path of new Set(paths)) {
    const module = await readRelayModule(path, workDir)
    names.claim(path, module.relay.name)
    modules.push([path, module])
  }
  return modules
}

function placeOn(stack: Stack, options: DevOptions, names: RelayNames, workDir: string): DevPlace {
  const transport = createKafkaTransport({ clientId: 'fencepost-dev', brokers: stack.brokers })
  return {
    stack,
    host: functionHost(stack),
    cluster: createCluster(transport, systemClock, systemRandom),
    fences: createDynamoDbFenceStore({ table: stack.fenceTable, ...stack.dynamoDb }, systemClock),
    names,
    settings: options.settings,
    workDir,
    clock: systemClock,
    say: options.say,
  }
}

async function stopAll({ host, cluster, fences, stack, clock }: DevPlace, relays: readonly DevRelay[]): Promise<void> {
  const patience = new AbortController()
  const halted = Promise.all(relays.map((relay) => relay.halt()))
  await Promise.race([halted, clock.sleep(graceMs, patience.signal)])
  patience.abort()
  await host.stop()
  await Promise.all(relays.map((relay) => relay.end()))
  fences.close()
  await cluster.close()
  await stack.stop()
}
