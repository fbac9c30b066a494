/** A real broker that allows nothing but what ACLs say (Kafka's StandardAuthorizer), and a user to try them with. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { findJava } from '../../lib/local/java.ts'
import { logFlags, quickJvmFlags } from '../../lib/local/kafka-config.ts'
import { type KafkaVersion, kafkaClassPath } from '../../lib/local/kafka-jars.ts'
import { LocalKafkaNode } from '../../lib/local/kafka-node.ts'
import { prepareStorage, propertiesFile } from '../../lib/local/kafka-storage.ts'
import { freePorts } from '../../lib/local/ports.ts'

export interface AuthorizedBroker {
  /** Whoever comes in here may do everything. */
  readonly admin: string
  /** SASL/PLAIN; see `relayUser`. */
  readonly sasl: string
  stop(): Promise<void>
}

export const relayUser = { name: 'relay', password: 'secret' } as const

const host = '127.0.0.1'
const plainModule = 'org.apache.kafka.common.security.plain.PlainLoginModule'

export async function startAuthorizedBroker(dir: string, version: KafkaVersion): Promise<AuthorizedBroker> {
  const java = await findJava()
  const classPath = await kafkaClassPath({ version })
  const [port = 0, controllerPort = 0, saslPort = 0] = await freePorts(3)
  const plan = { id: 1, port, controllerPort, dataDir: join(dir, 'node-1', 'data') }
  await mkdir(plan.dataDir, { recursive: true })
  await prepareStorage([plan], { dataDir: dir, java, classPath, config: authorizing(port, controllerPort, saslPort) })
  const args = ['-Xmx384m', ...quickJvmFlags, ...logFlags, '-cp', classPath, 'kafka.Kafka', propertiesFile(plan)]
  const node = new LocalKafkaNode(plan, join(dir, 'kafka.log'), java, args, systemClock)
  await node.launch()
  await node.untilServing([1])
  return { admin: `${host}:${port}`, sasl: `${host}:${saslPort}`, stop: () => node.stop() }
}

/** Everybody who does not log in is a super user; who logs in is nobody until ACLs say otherwise. */
const authorizing = (port: number, controllerPort: number, saslPort: number): Record<string, string> => ({
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
  'allow.everyone.if.no.acl.found': 'false',
  listeners: `PLAINTEXT://${host}:${port},SASL://${host}:${saslPort},CONTROLLER://${host}:${controllerPort}`,
  'advertised.listeners': `PLAINTEXT://${host}:${port},SASL://${host}:${saslPort}`,
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN',
  'listener.name.sasl.plain.sasl.jaas.config': `${plainModule} required user_${relayUser.name}="${relayUser.password}";`,
})
