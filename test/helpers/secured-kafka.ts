/** A broker with listeners for TLS and SASL beside the plain one. For tests of connecting; slow to start (about 6 s). */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { runCommand } from '../../lib/local/command.ts'
import { findJava } from '../../lib/local/java.ts'
import { kafkaProperties, logFlags, quickJvmFlags } from '../../lib/local/kafka-config.ts'
import { kafkaClassPath } from '../../lib/local/kafka-jars.ts'
import { LocalKafkaNode } from '../../lib/local/kafka-node.ts'
import { freePorts } from '../../lib/local/ports.ts'
import { type Authority, type Certificate, certificateAuthority } from './certificates.ts'

/** Addresses of the listeners. */
export interface SecuredKafka {
  readonly plain: string
  readonly tls: string
  /** TLS that wants a certificate of our authority from the client. */
  readonly mutualTls: string
  /** TLS with a certificate that expired an hour ago. */
  readonly expired: string
  /** TLS with a certificate for another host. */
  readonly elsewhere: string
  /** All mechanisms. Users: `ann` by PLAIN, `bob` by SCRAM-SHA-256, `eve` by SCRAM-SHA-512; each with the password `secret`; unsigned tokens by OAUTHBEARER. */
  readonly sasl: string
  /** The same without OAUTHBEARER. */
  readonly saslTls: string
  /** Takes one connection at a time. */
  readonly crowded: string
  readonly authority: Authority
  /** Its certificate, PEM. */
  readonly ca: string
  /** Of eve. */
  changePassword(password: string): Promise<void>
  stop(): Promise<void>
}

export interface Limits {
  /** For SASL sessions. Default: an hour. */
  readonly sessionMs?: number
  /** From one address, over all listeners. Default: none. */
  readonly connectionsMax?: number
}

const loginModules = 'org.apache.kafka.common.security'
const tlsListeners = ['tls', 'mutualtls', 'expired', 'elsewhere', 'sasltls'] as const

export async function startSecuredKafka(dir: string, limits: Limits = {}): Promise<SecuredKafka> {
  const java = await findJava()
  const [
    controllerPort = 0,
    port = 0,
    tls = 0,
    mutualtls = 0,
    expired = 0,
    elsewhere = 0,
    sasl = 0,
    sasltls = 0,
    crowded = 0,
  ] = await freePorts(9)
  const plan = { id: 1, port, controllerPort, dataDir: join(dir, 'data') }
  await mkdir(plan.dataDir, { recursive: true })
  const authority = certificateAuthority('Fencepost test authority')
  await writeKeys(dir, authority)
  const listeners = { plaintext: port, tls, mutualtls, expired, elsewhere, sasl, sasltls, crowded }
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
    mutualTls: at(mutualtls),
    expired: at(expired),
    elsewhere: at(elsewhere),
    sasl: at(sasl),
    saslTls: at(sasltls),
    crowded: at(crowded),
    authority,
    ca: authority.certificate,
    changePassword: (password) => changePassword(java, classPath, at(port), password),
    stop: () => node.stop(),
  }
}

/** A key store per TLS listener, and one trust store for the listener that asks clients for their certificates. */
async function writeKeys(dir: string, authority: Authority): Promise<void> {
  const here = { name: 'broker', hosts: ['localhost'], ips: ['127.0.0.1'] }
  const good = authority.issue(here)
  const stores: Readonly<Record<(typeof tlsListeners)[number], Certificate>> = {
    tls: good,
    mutualtls: good,
    sasltls: good,
    expired: authority.issue({ ...here, validUntil: new Date(Date.now() - 3_600_000) }),
    elsewhere: authority.issue({ name: 'broker', hosts: ['kafka.example.com'] }),
  }
  for (const [listener, { certificate, privateKey }] of Object.entries(stores))
    await writeFile(join(dir, `${listener}.pem`), privateKey + certificate)
  await writeFile(join(dir, 'ca.pem'), authority.certificate)
}

function securedProperties(
  dir: string,
  listeners: Readonly<Record<string, number>>,
  controllerPort: number,
  { sessionMs = 3_600_000, connectionsMax }: Limits,
): Record<string, string> {
  const advertised = Object.entries(listeners).map(([name, port]) => `${name.toUpperCase()}://127.0.0.1:${port}`)
  const protocols =
    'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CROWDED:PLAINTEXT,TLS:SSL,MUTUALTLS:SSL,EXPIRED:SSL,ELSEWHERE:SSL,' +
    'SASL:SASL_PLAINTEXT,SASLTLS:SASL_SSL'
  return {
    listeners: [...advertised, `CONTROLLER://127.0.0.1:${controllerPort}`].join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': protocols,
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.name.crowded.max.connections': '1',
    ...(connectionsMax && { 'max.connections.per.ip': String(connectionsMax) }),
    ...Object.assign({}, ...tlsListeners.map((listener) => keyProperties(dir, listener))),
    'listener.name.mutualtls.ssl.client.auth': 'required',
    'listener.name.mutualtls.ssl.truststore.type': 'PEM',
    'listener.name.mutualtls.ssl.truststore.location': join(dir, 'ca.pem'),
    ...saslProperties('sasl', 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER', sessionMs),
    ...saslProperties('sasltls', 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512', sessionMs),
  }
}

const keyProperties = (dir: string, listener: string): Record<string, string> => ({
  [`listener.name.${listener}.ssl.keystore.type`]: 'PEM',
  [`listener.name.${listener}.ssl.keystore.location`]: join(dir, `${listener}.pem`),
})

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

async function changePassword(java: string, classPath: string, broker: string, password: string): Promise<void> {
  const tool = [...quickJvmFlags, '-cp', classPath, 'kafka.admin.ConfigCommand', '--bootstrap-server', broker]
  const change = ['--alter', '--entity-type', 'users', '--entity-name', 'eve']
  await run(java, [...tool, ...change, '--add-config', `SCRAM-SHA-512=[password=${password}]`])
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} exited with ${code}:\n${output}`)
}
