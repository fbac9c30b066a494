import { hostname } from 'node:os'
import type { Command } from 'commander'
import { type Deadline, deadlineIn, systemClock } from '../clock.ts'
import { parseDeploymentConfig } from '../relay/config/config.ts'
import { connectDeployment, disconnect } from '../relay/connect-deployment.ts'
import type { RelayObserver } from '../relay/observer.ts'
import type { RelayDeployment } from '../relay/runtime.ts'
import { seconds } from '../units.ts'
import { loadRelay } from './load-relay.ts'
import { brokersOption } from './options.ts'
import { type SecurityOptions, securityEnvironment, securityOptions } from './security-options.ts'
import type { Terminal } from './terminal.ts'

/** Which relay of which deployment a command is about. */
export interface DeploymentOptions extends SecurityOptions {
  readonly relay: string
  readonly prefix?: string
  readonly brokers?: readonly string[]
  readonly table?: string
}

export const deploymentOptions = (command: Command): Command =>
  securityOptions(
    command
      .requiredOption('--relay <module>', 'the module whose default export is the relay')
      .option('--prefix <prefix>', 'of the deployment')
      .addOption(brokersOption())
      .option('--table <name>', 'the fence table'),
  )

export const environmentHelp = `
What is not given of prefix, brokers, table and log-in is read from the environment of a function
(FENCEPOST_PREFIX, FENCEPOST_BROKERS, FENCEPOST_TABLE, FENCEPOST_SASL_MECHANISM, FENCEPOST_SASL_PASSWORD ...).
To log in, for example: --tls --sasl scram-sha-512 --username ops --password-file ~/.kafka-password`

/** The environment of a function, with what the command line says in its place. */
export function environmentOf(options: Omit<DeploymentOptions, 'relay'>): NodeJS.ProcessEnv {
  const { prefix, brokers, table } = options
  return {
    ...process.env,
    ...(prefix && { FENCEPOST_PREFIX: prefix }),
    ...(brokers && { FENCEPOST_BROKERS: brokers.join(',') }),
    ...(table && { FENCEPOST_TABLE: table }),
    ...securityEnvironment(options),
  }
}

/** Time for one thing that a command asks of Kafka and the fence table. */
export const askDeadline = (): Deadline => deadlineIn(systemClock, seconds(30))

/**
 * Connects to a deployment as its operator, who has no generation, and disconnects at the end.
 * @throws RelayError CONFIG_INVALID, and what `work` throws
 */
export async function withDeployment<T>(
  options: DeploymentOptions,
  terminal: Terminal,
  work: (deployment: RelayDeployment) => Promise<T>,
): Promise<T> {
  const relay = await loadRelay(options.relay)
  const config = parseDeploymentConfig(environmentOf(options))
  const container = `fencepost@${hostname()}/${process.pid}`
  const own = { functionTimeoutMs: sliceMs(config), container, generation: null }
  const deployment = connectDeployment(relay, config, own, alarmsTo(terminal))
  try {
    return await work(deployment)
  } finally {
    await disconnect(deployment)
  }
}

const alarmsTo = (terminal: Terminal): RelayObserver => ({
  alarm: ({ lane, message }) => terminal.err(`fencepost: lane ${lane}: ${message}`),
})

/** How long lanes are held at a time; the broker must not abort a transaction that is still worked on (R10). */
const sliceMs = ({ transactionTimeoutMs }: { readonly transactionTimeoutMs: number }): number =>
  Math.min(seconds(30), transactionTimeoutMs / 2)

/** What it comes to, or the interruption as soon as there is one. Only for work that may be left behind at any point. */
export function untilInterrupted<T>({ interrupted }: Terminal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    if (interrupted.aborted) reject(interrupted.reason)
    interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true })
  })
}
