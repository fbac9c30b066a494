import { hostname } from 'node:os'
import { Command } from 'commander'
import { systemClock } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { powertoolsObserver } from '../lambda/powertools-observer.ts'
import { relayTelemetry, type Telemetry } from '../lambda/telemetry.ts'
import { refuseIfAny } from '../problems.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { type DeploymentConfig, type Environment, parseDeploymentConfig } from '../relay/config/config.ts'
import { timingProblems } from '../relay/config/relations.ts'
import { environmentSecrets } from '../relay/config/secrets.ts'
import { connectDeployment, disconnect, runtimeOf } from '../relay/connect-deployment.ts'
import type { RelayDeployment } from '../relay/runtime.ts'
import { Worker } from '../relay/worker/worker.ts'
import { minutes, seconds } from '../units.ts'
import { askDeadline, type DeploymentOptions, deploymentOptions, environmentHelp, environmentOf } from './deployment.ts'
import { loadRelay } from './load-relay.ts'
import { duration, jsonOption, portOption } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'
import { serveHealth } from './worker-health.ts'

interface Options extends DeploymentOptions {
  readonly healthPort?: number
  readonly drainWithin: number
  readonly json?: boolean
}

const shiftMs = seconds(15)
const sweepEveryMs = minutes(5)
const publishMetricsEveryMs = seconds(10)
/** For what is still on its way to stdout. */
const lastWordsMs = seconds(0.5)

const help = `
The same relay as in functions, as a process that is always there: for loads at which functions cost more.
Start as many as you like, anywhere: they share the lanes by their leases, and functions may run beside them.
It tails the source and commits every commitEveryMs (1 s unless the relay says otherwise). Logs and metrics are
lines of JSON on stdout, warnings and errors on stderr; POWERTOOLS_LOG_LEVEL sets how much of them.

SIGTERM or Ctrl-C: windows under way are finished, the lanes are released, exit code 0. Exit code 1: what it
needs is wrong or missing at its start, or windows took longer than --drain-within; the leases then end by themselves.
${environmentHelp}
FENCEPOST_GENERATION counts here too; secrets of setup are read from FENCEPOST_SECRET_<NAME>.

Examples:
  $ fencepost worker --relay relays/delays.ts
  $ fencepost worker --relay relays/delays.ts --health-port 8080     GET /healthz for an orchestrator
  $ fencepost worker --relay relays/delays.ts --drain-within 100s    below the orchestrator's own grace period`

/** `fencepost worker`: the engine as an always-on process. */
export function workerCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('worker'))
    .addOption(portOption('health-port', 'GET /healthz').default(undefined, 'none'))
    .option(
      '--drain-within <duration>',
      'for the windows under way, once it is to end',
      duration('1s', '15m'),
      seconds(25),
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => work(options, terminal))
}

async function work(options: Options, terminal: Terminal): Promise<void> {
  const relay = await loadRelay(options.relay)
  const env = environmentOf(options)
  const config = parseDeploymentConfig(env)
  const telemetry = relayTelemetry(relay, env)
  const deployment = connect(relay, config, telemetry)
  const publishing = setInterval(() => publish(telemetry), publishMetricsEveryMs)
  const drained = await workUntilInterrupted(deployment, env, options, terminal, telemetry).finally(async () => {
    clearInterval(publishing)
    publish(telemetry)
    await disconnect(deployment)
  })
  if (options.json) terminal.out(JSON.stringify({ ok: drained, relay: relay.name, drained }))
  if (!drained) throw leftBehind()
}

/** Its code may go on for as long as it likes, and would keep the process alive. */
function leftBehind(): CommandFailed {
  setTimeout(() => process.exit(), lastWordsMs).unref()
  return new CommandFailed()
}

function connect(relay: CompiledRelay, config: DeploymentConfig, { logger, metrics }: Telemetry): RelayDeployment {
  const functionTimeoutMs = 2 * shiftMs // as long as a lane is held at most
  refuseIfAny('the timing of this worker', timingProblems({ ...config, functionTimeoutMs }))
  const container = `worker@${hostname()}/${process.pid}`
  const own = { functionTimeoutMs, container, generation: config.generation }
  return connectDeployment(relay, config, own, powertoolsObserver(logger, metrics))
}

async function workUntilInterrupted(
  deployment: RelayDeployment,
  env: Environment,
  { healthPort, drainWithin: drainMs }: Options,
  { interrupted: stopping }: Terminal,
  { logger }: Telemetry,
): Promise<boolean> {
  const { relay, clock, registry = null } = deployment
  const running = await relay.start({ secret: environmentSecrets(env), registry, deadline: askDeadline(), clock })
  const onTrouble = (error: RelayError) => logger.warn('worker cannot look', { code: error.code, error })
  const runtime = { ...runtimeOf(deployment, running), stopping }
  const worker = new Worker(runtime, { shiftMs, drainMs, sweepEveryMs, onTrouble })
  const health = healthPort === undefined ? null : await healthAt(healthPort, worker)
  logger.info('worker starts', { container: deployment.settings.container, healthPort: health?.port ?? null })
  stopping.addEventListener('abort', () => logger.info('worker ends', { lanes: worker.state.lanes }))
  try {
    const isDrained = await worker.run()
    if (!isDrained) logger.error('windows under way were left behind', { drainMs, lanes: worker.state.lanes })
    return isDrained
  } finally {
    health?.close()
  }
}

async function healthAt(port: number, worker: Worker) {
  return serveHealth(port, () => worker.state, systemClock.now).catch((cause) => {
    throw new RelayError('CONFIG_INVALID', `port ${port} cannot be listened on: choose another --health-port`, {
      cause,
    })
  })
}

function publish({ metrics }: Telemetry): void {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics()
}
