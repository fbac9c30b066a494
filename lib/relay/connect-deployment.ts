import { systemClock, systemRandom } from '../clock.ts'
import { createDynamoDbFenceStore } from '../fencing/dynamodb-fence-store.ts'
import type { KafkaConnectionConfig } from '../kafka/connection-config.ts'
import { createCluster } from '../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../kafka/kafkajs-transport.ts'
import { createAwsSecretStore } from '../secrets/aws-secret-store.ts'
import { cachedSecrets } from '../secrets/secrets.ts'
import { openIdempotentProducer } from '../transaction/idempotent-producer.ts'
import type { CompiledRelay, RunningRelay } from './compiled-relay.ts'
import type { DeploymentConfig } from './config/config.ts'
import { kafkaSecurity } from './config/kafka-security.ts'
import { deploymentRegistry } from './config/registry.ts'
import type { RelayObserver } from './observer.ts'
import type { EngineSettings, RelayDeployment, RelayRuntime } from './runtime.ts'

/** What a process knows of itself, beside its deployment's settings. */
export type ProcessSettings = Pick<EngineSettings, 'functionTimeoutMs' | 'container' | 'generation'>

/** A relay on its cluster and its fence table. Connects when something is asked for the first time. */
export function connectDeployment(
  relay: CompiledRelay,
  config: DeploymentConfig,
  process: ProcessSettings,
  observer: RelayObserver,
): RelayDeployment {
  const { table, tableEndpoint } = config
  return {
    relay,
    cluster: createCluster(createKafkaTransport(secured(config)), systemClock, systemRandom),
    fences: createDynamoDbFenceStore({ table, ...(tableEndpoint && { endpoint: tableEndpoint }) }, systemClock),
    settings: { ...config, ...process },
    clock: systemClock,
    random: systemRandom,
    observer,
    registry: deploymentRegistry(config.registry),
  }
}

/** How to connect. Secrets are read by the first connection, and only if there are any. */
export function secured({ kafka, kafkaSecrets }: DeploymentConfig): KafkaConnectionConfig {
  if (Object.keys(kafkaSecrets).length === 0) return kafka
  return { ...kafka, security: kafkaSecurity(kafka, kafkaSecrets, cachedSecrets(createAwsSecretStore())) }
}

/** The same with the user's code, ready to relay. */
export function runtimeOf(deployment: RelayDeployment, running: RunningRelay): RelayRuntime {
  const { cluster, random } = deployment
  return {
    ...deployment,
    running,
    openProducer: (deadline) => openIdempotentProducer(cluster, random, deadline),
    warm: new Map(),
    batchBytesMax: new Map(),
  }
}

export async function disconnect({ fences, cluster }: RelayDeployment): Promise<void> {
  fences.close()
  await cluster.close()
}
