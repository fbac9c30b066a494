import { Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../clock.ts'
import { isRelayError } from '../errors.ts'
import { environmentSecrets } from '../relay/config/secrets.ts'
import { seconds } from '../units.ts'
import { figure } from '../verify/finding.ts'
import type { IdPlace } from '../verify/identity.ts'
import type { OnProgress } from '../verify/progress.ts'
import type { VerifyReport } from '../verify/report.ts'
import { verifyRelay } from '../verify/verify-relay.ts'
import {
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  untilInterrupted,
  withDeployment,
} from './deployment.ts'
import { duration, jsonOption } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'
import { reportLines } from './verify-text.ts'

interface VerifyCommandOptions extends DeploymentOptions {
  readonly last?: number
  readonly id?: IdPlace
  readonly complete?: boolean
  readonly json?: boolean
}

const help = `
Exit code: 0 proven, 1 violated, 2 it cannot be told.
${environmentHelp}
Without a table the fence records are not judged, and what they remember is not known: how many partitions an output had
at first, and the offsets of lanes that were idle for a week. Only reads, and may run beside the relay.

Examples:
  $ fencepost verify --relay relays/delays.ts --prefix shop-prod --brokers localhost:9092
  $ fencepost verify --relay relays/delays.ts --last 1h          what was written within the last hour
  $ fencepost verify --relay relays/score.ts --id /order/id      by an id in the JSON value
  $ fencepost verify --relay relays/score.ts --id header:id      by a header
  $ fencepost verify --relay relays/delays.ts --complete --json  nothing may be left to relay; one line of JSON`

/** `fencepost verify`: proof from the log that a relay relayed each record once, in order. */
export function verifyCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('verify'))
    .option('--last <duration>', 'judge only the last 30m, 1h, 7d ... by timestamp', duration('1s', '3650d'))
    .option(
      '--id <pointer or header:name>',
      'count by an id in the records instead of transforming them again',
      parseId,
    )
    .option('--complete', 'not proven while anything is left to relay')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: VerifyCommandOptions) => verify(options, terminal))
}

const verdictCodes = { proven: 0, violated: 1, unproven: 2 } as const satisfies Record<VerifyReport['verdict'], number>

async function verify(options: VerifyCommandOptions, terminal: Terminal): Promise<void> {
  const report = await prove(options, terminal).catch((error) => cannotTell(error, options, terminal))
  const lines = options.json ? [JSON.stringify(report)] : reportLines(report, terminal)
  for (const line of lines) terminal.out(line)
  if (!report.ok) throw new CommandFailed(verdictCodes[report.verdict])
}

/** Stands in for a table's name where there is none: a deployment needs one, to verify it does not. */
const withoutTable = 'none'

function prove(options: VerifyCommandOptions, terminal: Terminal): Promise<VerifyReport> {
  const { last, id, complete } = options
  const table = options.table ?? (process.env.FENCEPOST_TABLE || withoutTable)
  return withDeployment({ ...options, table }, terminal, ({ relay, settings, cluster, fences, registry = null }) =>
    untilInterrupted(
      terminal,
      verifyRelay({
        relay,
        prefix: settings.prefix,
        cluster,
        secret: environmentSecrets(process.env),
        registry,
        ...(table !== withoutTable && { fences }),
        ...(id && { id }),
        ...(last !== undefined && { lastMs: last }),
        ...(complete && { complete }),
        onProgress: progressLines(terminal),
      }),
    ),
  )
}

function cannotTell(error: unknown, { json }: VerifyCommandOptions, terminal: Terminal): never {
  if (!isRelayError(error)) throw error
  const { code, message } = error
  if (json) terminal.out(JSON.stringify({ ok: false, verdict: 'unproven', code, message }))
  terminal.err(`fencepost: it cannot be told: ${message}`)
  throw new CommandFailed(verdictCodes.unproven)
}

const tellEveryMs = seconds(5)

/** For slow reads only. */
function progressLines(terminal: Terminal): OnProgress {
  let toldAtMs = systemClock.now()
  return ({ phase, records }) => {
    const nowMs = systemClock.now()
    if (nowMs - toldAtMs < tellEveryMs) return
    toldAtMs = nowMs
    terminal.err(`fencepost: ${figure(records)} records of the ${phase} read`)
  }
}

/** A JSON pointer (RFC 6901), or `header:` and a name. */
function parseId(text: string): IdPlace {
  if (/^header:./.test(text)) return { in: 'header', name: text.slice('header:'.length) }
  if (!text.startsWith('/')) throw new InvalidArgumentError(`"${text}" is neither /a/json/pointer nor header:name.`)
  const path = text.slice(1).split('/')
  return { in: 'value', path: path.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) }
}
