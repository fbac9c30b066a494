import type { Trigger as Entry } from '../lib/local/bundle.ts'
import type { CompiledRelay } from '../lib/relay/compiled-relay.ts'
import { commitGroup } from '../lib/transaction/ids.ts'
import { minutes, seconds } from '../lib/units.ts'
import type { DeploymentSettings, RelaySettings } from './settings.ts'
import { type Trigger, triggerOf } from './trigger.ts'

/** What of a relay's definition a deployment must know. */
export type RelayFacts = Pick<CompiledRelay, 'name' | 'sourceTopic' | 'outputTopics'>

/** Where the Serverless CLI deploys to. */
export interface Place {
  readonly service: string
  readonly stage: string
}

/** Everything decided about a deployment; templates are written from it and from nothing else. */
export interface DeploymentPlan extends Omit<DeploymentSettings, 'relays' | 'sweep' | 'generation'> {
  readonly place: Place
  readonly tableName: string
  readonly sweepMinutes: number
  readonly generation: number
  readonly relays: readonly RelayPlan[]
}

export interface RelayPlan extends Omit<RelaySettings, 'latency' | 'trigger' | 'module' | 'timeout' | 'memory'> {
  readonly facts: RelayFacts
  readonly module: string
  readonly trigger: Trigger
  /** Offsets of the relay. Never the group of the mapping, which commits to it by itself. */
  readonly commitGroup: string
  readonly bellGroup: string
  readonly memoryMb: number
  readonly functions: readonly FunctionPlan[]
}

export type Role = 'bell' | 'sweep' | 'status'

export interface FunctionPlan {
  /** In `functions:` of the serverless.yml, and at the end of the function's name. */
  readonly key: string
  readonly name: string
  readonly role: Role
  /** Which of `functions/*.ts` it is. */
  readonly entry: Entry
  readonly timeoutSeconds: number
  readonly transactionTimeoutMs: number
  readonly everyMinutes: number | null
}

/** Longer than a sweep of a thousand lanes takes; it relays, too, what bells have missed. */
const sweepTimeoutMs = minutes(5)
const statusTimeoutMs = seconds(30)
/** A session outlives its invocation (R10), and no longer: readers of the outputs wait for what a dead function left open. */
const transactionOutlastsMs = seconds(60)
/** So that an invocation that lingers ends just before the next one begins. */
const lingerTimeoutMs = seconds(60)

/** Puts settings and relay definitions together. Decides, and checks nothing: `planProblems` does that. */
export function planDeployment(
  settings: DeploymentSettings,
  facts: ReadonlyMap<string, RelayFacts>,
  place: Place,
  generation: number,
): DeploymentPlan {
  const { relays, sweep, ...rest } = settings
  const sweepMinutes = Math.floor(sweep / minutes(1))
  return {
    ...rest,
    place,
    tableName: `${place.service}-${place.stage}-fences`,
    sweepMinutes,
    generation: settings.generation ?? generation,
    relays: Object.entries(relays).flatMap(([name, relay]) => {
      const known = facts.get(name)
      return known ? [planRelay(name, relay, known, { place, prefix: settings.prefix, sweepMinutes })] : []
    }),
  }
}

interface Surroundings {
  readonly place: Place
  readonly prefix: string
  readonly sweepMinutes: number
}

function planRelay(name: string, settings: RelaySettings, facts: RelayFacts, around: Surroundings): RelayPlan {
  const { latency: _latency, trigger: _trigger, timeout, memory, module, ...rest } = settings
  const trigger = triggerOf(settings)
  const bellTimeoutMs = trigger.kind === 'linger' ? lingerTimeoutMs : timeout
  const group = commitGroup(around.prefix, name)
  const plan = (role: Role, entry: Entry, timeoutMs: number, everyMinutes: number | null): FunctionPlan => {
    const key = role === 'bell' ? name : `${name}-${role}`
    const { service, stage } = around.place
    return {
      key,
      name: `${service}-${stage}-${key}`,
      role,
      entry,
      timeoutSeconds: timeoutMs / seconds(1),
      transactionTimeoutMs: timeoutMs + transactionOutlastsMs,
      everyMinutes,
    }
  }
  const isPull = trigger.kind === 'pull' || trigger.kind === 'linger'
  return {
    ...rest,
    facts,
    module: moduleOf(name, module),
    trigger,
    commitGroup: group,
    bellGroup: `${group}.bell`,
    memoryMb: memory,
    functions: [
      plan('bell', isPull ? 'pull' : 'relay', bellTimeoutMs, isPull ? trigger.everyMinutes : null),
      plan('sweep', 'sweep', sweepTimeoutMs, around.sweepMinutes),
      plan('status', 'status', statusTimeoutMs, null),
    ],
  }
}

export const isMapped = ({ trigger }: RelayPlan): boolean => trigger.kind === 'events' || trigger.kind === 'provisioned'

/** Where a relay is unless its settings say otherwise. */
export const moduleOf = (name: string, module: string | undefined): string => module ?? `relays/${name}.ts`
