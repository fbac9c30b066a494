import { join } from 'node:path'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { RelayError } from '../../lib/errors.ts'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import { freePorts } from '../../lib/local/ports.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from '../../lib/local/supervised-process.ts'
import { seconds } from '../../lib/units.ts'

const startMs = seconds(60)
const graceMs = seconds(5)
export const region = 'eu-central-1'

export interface Moto extends AwsEndpoint {
  stop(): Promise<void>
}

/** moto as a server, with what its CloudFormation lacks (moto_server.py). @throws RelayError LOCAL_STACK */
export async function startMoto(
  python: string,
  logFile: string,
  signal: AbortSignal,
  clock = systemClock,
): Promise<Moto> {
  const [port = 0] = await freePorts(1)
  const child = await startSupervised({
    command: python,
    args: [join(import.meta.dirname, 'moto_server.py'), '--port', String(port)],
    env: { ...process.env, MOTO_PORT: String(port), AWS_DEFAULT_REGION: region },
    logFile,
  })
  const stop = async () => void (await stopSupervised(child, graceMs))
  const endpoint = `http://127.0.0.1:${port}`
  try {
    await untilServing(endpoint, child, logFile, signal, clock)
  } catch (error) {
    await stop()
    throw error
  }
  return { endpoint, region, credentials: { accessKeyId: 'moto', secretAccessKey: 'moto' }, stop }
}

async function untilServing(
  endpoint: string,
  child: SupervisedProcess,
  logFile: string,
  signal: AbortSignal,
  clock: Clock,
) {
  for (const lateMs = clock.now() + startMs; clock.now() < lateMs && child.running; await clock.sleep(100, signal)) {
    if (
      await fetch(`${endpoint}/moto-api/`, { signal }).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
  }
  throw new RelayError('LOCAL_STACK', `moto does not serve at ${endpoint} within ${startMs} ms; see ${logFile}`)
}
