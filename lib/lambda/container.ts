import type { Context } from 'aws-lambda'
import { type Deadline, deadlineIn, systemClock } from '../clock.ts'
import { refuseIfAny } from '../problems.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import { type DeploymentConfig, type Environment, parseDeploymentConfig } from '../relay/config/config.ts'
import { timingProblems } from '../relay/config/relations.ts'
import { environmentSecrets } from '../relay/config/secrets.ts'
import { connectDeployment, disconnect, runtimeOf } from '../relay/connect-deployment.ts'
import { observers, type RelayObserver } from '../relay/observer.ts'
import type { RelayDeployment, RelayRuntime } from '../relay/runtime.ts'
import { collectOldObjectsRarely } from './collector.ts'
import { powertoolsObserver } from './powertools-observer.ts'
import { relayTelemetry, type Telemetry } from './telemetry.ts'
import { WindowCounts } from './window-counts.ts'

/** Kept free after the last word to Kafka and the fence table, for the answer to reach Lambda before it kills us. */
const answerReserveMs = 150

/** What an invocation works with. */
export interface Ready {
  readonly runtime: RelayRuntime
  readonly settings: DeploymentConfig
  readonly deadline: Deadline
  /** Of this invocation, as they grow. */
  readonly counts: WindowCounts
}

/** One execution environment: what is made once, at the first invocation, and stays warm. */
export interface Container extends Telemetry {
  /** @throws RelayError CONFIG_INVALID, SETUP_FAILED; tried again by the next invocation */
  ready(context: Context): Promise<Ready>
}

export function createContainer(relay: CompiledRelay, env: Environment = process.env): Container {
  collectOldObjectsRarely()
  const { logger, metrics } = relayTelemetry(relay, env)
  const counts = new WindowCounts()
  const observer = observers(powertoolsObserver(logger, metrics), counts.observer)
  let made: Promise<Made> | null = null
  return {
    logger,
    metrics,
    async ready(context) {
      counts.reset()
      const remainingMs = context.getRemainingTimeInMillis()
      const deadline = deadlineIn(systemClock, remainingMs - answerReserveMs)
      made ??= make(relay, env, context, remainingMs, deadline, observer)
      try {
        return { ...(await made), deadline, counts }
      } catch (error) {
        made = null
        throw error
      }
    },
  }
}

type Made = Pick<Ready, 'runtime' | 'settings'>

async function make(
  relay: CompiledRelay,
  env: Environment,
  context: Context,
  functionTimeoutMs: number,
  deadline: Deadline,
  observer: RelayObserver,
): Promise<Made> {
  const settings = parseDeploymentConfig(env)
  refuseIfAny('the timing of this deployment', timingProblems({ ...settings, functionTimeoutMs }))
  const own = { functionTimeoutMs, container: context.logStreamName, generation: settings.generation }
  const deployment = connectDeployment(relay, settings, own, observer)
  reachBoth(deployment, deadline)
  try {
    const running = await relay.start({
      secret: environmentSecrets(env),
      registry: deployment.registry ?? null,
      deadline,
      clock: systemClock,
    })
    return { runtime: runtimeOf(deployment, running), settings }
  } catch (error) {
    await disconnect(deployment)
    throw error
  }
}

/**
 * Kafka and the fence table, while setup runs: Kafka's handshakes are waiting, and the first request to DynamoDB is work, for
 * code that has never run. What the answers are is nobody's business here; metadata is remembered.
 */
function reachBoth({ cluster, fences, settings, relay }: RelayDeployment, deadline: Deadline): void {
  cluster.topics([relay.sourceTopic, ...relay.outputTopics], deadline).catch(() => undefined)
  fences.read(`${settings.prefix}.${relay.name}.`, deadline).catch(() => undefined)
}
