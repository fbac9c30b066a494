/** A broker with listeners for TLS and SASL beside the plain one. For tests of connecting; slow to start (about 6 s). */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { runCommand } from '../../lib/local/command.ts'
import { findJava } from '../../lib/local/java.ts'
import { kafkaProperties, logFlags, quickJvmFlags } from '../../lib/local/kafka-config.ts'
import { kafkaClassPath } from '../../lib/local/kafka-jars.ts'
import { LocalKafkaNode } from '../../lib/local/kafka-node.ts'
import { freePorts } from '../../lib/local/ports.ts'

export interface SecuredKafka {
  readonly plain: string
  readonly tls: string
  /** All mechanisms. Users: `ann` by PLAIN, `bob` by SCRAM-SHA-256, `eve` by SCRAM-SHA-512; each with the password `secret`; unsigned tokens by OAUTHBEARER. */
  readonly sasl: string
  /** The same without OAUTHBEARER. */
  readonly saslTls: string
  /** Takes one connection at a time. */
  readonly crowded: string
  /** The certificate authority, PEM. */
  readonly ca: string
  stop(): Promise<void>
}

export interface Limits {
  /** For SASL sessions. */
  readonly sessionMs: number
  /** From one address, over all listeners. */
  readonly connectionsMax: number
}

const loginModules = 'org.apache.kafka.common.security'
const keyPassword = 'changeit'

export async function startSecuredKafka(dir: string, limits: Limits): Promise<SecuredKafka> {
  const java = await findJava()
  const [controllerPort = 0, port = 0, tls = 0, sasl = 0, saslTls = 0, crowded = 0] = await freePorts(6)
  const plan = { id: 1, port, controllerPort, dataDir: join(dir, 'data') }
  await mkdir(plan.dataDir, { recursive: true })
  const ca = await makeKey(java, dir)
  const listeners = { plaintext: port, tls, sasl, sasltls: saslTls, crowded }
  const properties = kafkaProperties(plan, [plan], securedProperties(dir, listeners, controllerPort, limits))
  const file = join(dir, 'server.properties')
  await writeFile(file, properties)
  const classPath = await kafkaClassPath({ version: '4.1' })
  await format(java, classPath, file)
  const args = ['-Xmx384m', ...quickJvmFlags, ...logFlags, '-cp', classPath, 'kafka.Kafka', file]
  const node = new LocalKafkaNode(plan, join(dir, 'kafka.log'), java, args, systemClock)
  await node.launch()
  await node.untilServing([1])
  const at = (listener: number) => `127.0.0.1:${listener}`
  return {
    plain: at(port),
    tls: at(tls),
    sasl: at(sasl),
    saslTls: at(saslTls),
    crowded: at(crowded),
    ca,
    stop: () => node.stop(),
  }
}

function securedProperties(
  dir: string,
  listeners: Readonly<Record<string, number>>,
  controllerPort: number,
  { sessionMs, connectionsMax }: Limits,
): Record<string, string> {
  const advertised = Object.entries(listeners).map(([name, port]) => `${name.toUpperCase()}://127.0.0.1:${port}`)
  const protocols =
    'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CROWDED:PLAINTEXT,TLS:SSL,SASL:SASL_PLAINTEXT,SASLTLS:SASL_SSL'
  return {
    listeners: [...advertised, `CONTROLLER://127.0.0.1:${controllerPort}`].join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': protocols,
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.name.crowded.max.connections': '1',
    'max.connections.per.ip': String(connectionsMax),
    'ssl.keystore.location': join(dir, 'key.p12'),
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.password': keyPassword,
    'ssl.key.password': keyPassword,
    ...saslProperties('sasl', 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER', sessionMs),
    ...saslProperties('sasltls', 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512', sessionMs),
  }
}

function saslProperties(listener: string, mechanisms: string, sessionMs: number): Record<string, string> {
  const of = `listener.name.${listener}`
  return {
    [`${of}.sasl.enabled.mechanisms`]: mechanisms,
    [`${of}.connections.max.reauth.ms`]: String(sessionMs),
    [`${of}.plain.sasl.jaas.config`]: `${loginModules}.plain.PlainLoginModule required user_ann="secret";`,
    [`${of}.oauthbearer.sasl.jaas.config`]: `${loginModules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="kafka";`,
    [`${of}.scram-sha-256.sasl.jaas.config`]: `${loginModules}.scram.ScramLoginModule required;`,
    [`${of}.scram-sha-512.sasl.jaas.config`]: `${loginModules}.scram.ScramLoginModule required;`,
  }
}

async function format(java: string, classPath: string, file: string): Promise<void> {
  const users = ['SCRAM-SHA-256=[name=bob,password=secret]', 'SCRAM-SHA-512=[name=eve,password=secret]']
  const scram = users.flatMap((user) => ['--add-scram', user])
  const tool = ['-cp', classPath, 'kafka.tools.StorageTool', 'format', '-t', 'c2VjdXJlZC1rYWZrYS0wMQ', '-c', file]
  await run(java, [...tool, ...scram])
}

/** A key and a certificate for this host, with the keytool that comes with Java. Answers the certificate. */
async function makeKey(java: string, dir: string): Promise<string> {
  const keytool = dirname(java) === '.' ? 'keytool' : join(dirname(java), 'keytool')
  const store = [
    '-keystore',
    join(dir, 'key.p12'),
    '-storetype',
    'PKCS12',
    '-storepass',
    keyPassword,
    '-alias',
    'kafka',
  ]
  const names = ['-dname', 'CN=localhost', '-ext', 'SAN=DNS:localhost,IP:127.0.0.1']
  await run(keytool, ['-genkeypair', '-keyalg', 'RSA', '-keysize', '2048', '-validity', '2', ...names, ...store])
  const pem = join(dir, 'ca.pem')
  await run(keytool, ['-exportcert', '-rfc', '-file', pem, ...store])
  return readFile(pem, 'utf8')
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} exited with ${code}:\n${output}`)
}
