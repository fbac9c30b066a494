import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import { refuseIfAny, shown } from '../../problems.ts'
import { mebibytes, seconds } from '../../units.ts'
import type { CompiledRelay, RunningRelay, StartContext, WindowLimits } from '../compiled-relay.ts'
import { openCodecs } from '../transform/open-codecs.ts'
import type { TransformFunction, TransformPlan, UserFunction } from '../transform/plan.ts'
import { createRunner } from '../transform/runner.ts'
import { startTimeLimit, within } from '../transform/time-limit.ts'
import { type AnyDefinition, definitionProblems } from './check-definition.ts'
import type { Outputs } from './emit.ts'
import type { Relay, RelayDefinition } from './relay-definition.ts'
import type { Topic } from './topic.ts'

const WINDOW_RECORDS_MAX = 7_000
const CALL_TIMEOUT_MS = seconds(5)
/** With async calls a window holds at least this many rounds of them, so that few calls wait for a window's last one. */
const CALL_ROUNDS_LEAST = 4

/**
 * Makes a relay: what it reads, what it writes, and the transform between them.
 *
 * ```ts
 * export default defineRelay({
 *   name: 'delays',
 *   source: topic('flights', json(Flight)),
 *   outputs: { late: topic('flights.late', json<LateFlight>()), onTime: topic('flights.on-time', bytes()) },
 *   deadLetters: topic('flights.dead'),
 *   transform(record, { emit }) {
 *     if (record.value.delay < 15) return emit.onTime(record.raw.value)
 *     emit.late({ ...record.value, km: record.value.distance * 1.609 })
 *   },
 * })
 * ```
 *
 * Emit nothing to filter, once to map or route, several times to flat-map. All that one record emits, its place in the
 * source and its dead letter become visible together, once.
 * @throws RelayError CONFIG_INVALID naming every problem of the definition
 */
export function defineRelay<Source extends Topic, O extends Outputs, Setup extends object = Record<never, never>>(
  definition: RelayDefinition<Source, O, Setup>,
): Relay<Source, O> {
  // Contexts and records have the user's own types; below they are passed through without being looked into.
  const relay = definition as unknown as AnyDefinition
  refuseIfAny(`relay ${shown(definition.name)}`, definitionProblems(relay))
  return { ...compile(relay), source: definition.source, outputs: definition.outputs }
}

function compile(definition: AnyDefinition): CompiledRelay {
  const { name, source, outputs, deadLetters, startAt = 'earliest' } = definition
  const written = [...Object.values(outputs), ...(deadLetters ? [deadLetters] : [])]
  return {
    name,
    sourceTopic: source.name,
    outputTopics: written.map((topic) => topic.name),
    deadLetters: deadLetters?.name ?? null,
    guarantee: definition.guarantee ?? 'exactly-once',
    startAt: startAt instanceof Date ? { timestampMs: startAt.getTime() } : startAt,
    read: definition.read ?? 'log',
    partitionsPerLane: definition.partitionsPerLane ?? 1,
    window: windowLimits(definition),
    commitEveryMs: definition.commitEveryMs ?? seconds(1),
    poisonAttempts: definition.poisonAttempts ?? 3,
    start: (context) => start(definition, context),
  }
}

function windowLimits({ window = {}, transform, async }: AnyDefinition): WindowLimits {
  const msMax = window.ms ?? seconds(10)
  const recordsDefault =
    transform && async ? recordsInTime(async.concurrency, msMax, async.timeoutMs) : WINDOW_RECORDS_MAX
  return { recordsMax: window.records ?? recordsDefault, bytesMax: window.bytes ?? mebibytes(8), msMax }
}

/** As many calls as fit even when each takes its whole time. */
function recordsInTime(concurrency: number, msMax: number, timeoutMs = CALL_TIMEOUT_MS): number {
  const rounds = Math.max(CALL_ROUNDS_LEAST, Math.floor(msMax / timeoutMs))
  return Math.min(concurrency * rounds, WINDOW_RECORDS_MAX)
}

async function start(definition: AnyDefinition, context: StartContext): Promise<RunningRelay> {
  const setup = definition.setup ? await runSetup(definition.setup, context) : {}
  return createRunner(openCodecs(planOf(definition), context.registry ?? null), setup, context.clock)
}

async function runSetup(setup: NonNullable<AnyDefinition['setup']>, context: StartContext): Promise<object> {
  const limit = startTimeLimit(context.clock, context.deadline.remainingMs(), setupTimedOut)
  try {
    const made = await within(limit.signal, Promise.resolve(setup({ secret: (name) => context.secret(name) })))
    return checkSetup(made)
  } catch (error) {
    throw isRelayError(error) ? error : new RelayError('SETUP_FAILED', messageOf(error), { cause: error })
  } finally {
    limit.end()
  }
}

function checkSetup(made: object): object {
  const taken = ['emit', 'signal'].filter((name) => name in made)
  refuseIfAny(
    'setup',
    taken.map((name) => ({
      path: `setup().${name}`,
      found: 'a name of the context itself',
      wanted: 'any other name',
      fix: 'rename it',
    })),
  )
  return made
}

const setupTimedOut = (): RelayError =>
  new RelayError('SETUP_FAILED', 'setup was not done when the time of the invocation was up; give it less to do')

function planOf(definition: AnyDefinition): TransformPlan {
  const { name, source, outputs, deadLetters, onError } = definition
  return {
    source,
    outputs: Object.entries(outputs).map(([output, topic]) => ({ name: output, topic })),
    policy: {
      relay: name,
      onError: onError ?? (deadLetters ? 'dead-letter' : 'stop'),
      deadLetters: deadLetters?.name ?? null,
    },
    transform: transformOf(definition),
  }
}

function transformOf(definition: AnyDefinition): TransformFunction {
  const limits = { timeoutMs: definition.async?.timeoutMs ?? CALL_TIMEOUT_MS, retries: definition.async?.retries ?? 0 }
  const call = (definition.transform ?? definition.transformWindow)?.bind(definition) as unknown as UserFunction
  if (definition.transformWindow) return { of: 'whole window', call, limits }
  if (!definition.async) return { of: 'each record in turn', call }
  return { of: 'several records at once', call, limits: { ...limits, concurrency: definition.async.concurrency } }
}
