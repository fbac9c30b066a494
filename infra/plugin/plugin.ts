import { join, resolve } from 'node:path'
import { loadRelay } from '../../lib/cli/load-relay.ts'
import { systemClock } from '../../lib/clock.ts'
import { type Problem, refuseIfAny } from '../../lib/problems.ts'
import { seconds } from '../../lib/units.ts'
import { writeArtifact } from '../artifacts.ts'
import { idPart } from '../cloudformation.ts'
import { type ServerlessFunction, serverlessFunctions } from '../functions.ts'
import { parseSettings } from '../parse-settings.ts'
import { type DeploymentPlan, moduleOf, planDeployment, type RelayFacts } from '../plan.ts'
import { planProblems } from '../problems.ts'
import { template } from '../resources/all.ts'
import type { DeploymentSettings } from '../settings.ts'
import { mergeTemplates } from './merge.ts'
import { providerProblems } from './provider-problems.ts'
import type { CliOptions, Hooks, PluginUtils, Serverless } from './serverless.ts'

/**
 * Turns `custom.fencepost` of a serverless.yml into functions, triggers, tables, permissions, alarms and a dashboard.
 * Everything is decided and checked before the first command runs; nothing asks AWS, so packaging works offline.
 */
export class FencepostPlugin {
  readonly hooks: Hooks
  readonly #serverless: Serverless
  readonly #log: PluginUtils['log']
  #plan: DeploymentPlan | undefined
  #functions: Record<string, ServerlessFunction> = {}

  constructor(serverless: Serverless, options: CliOptions, { log }: PluginUtils) {
    this.#serverless = serverless
    this.#log = log
    this.hooks = {
      initialize: () => this.#describe(),
      'before:package:createDeploymentArtifacts': () => this.#bundle(() => true),
      'before:deploy:function:packageFunction': () => this.#bundleOne(options.function),
    }
  }

  async #describe(): Promise<void> {
    const { service } = this.#serverless
    const settings = parseSettings(service.custom?.fencepost)
    const place = { service: service.service, stage: this.#serverless.getProvider('aws').getStage() }
    const generation = Math.floor(systemClock.now() / seconds(1))
    const plan = planDeployment(settings, await this.#relayFacts(settings), place, generation)
    refuseIfAny('custom.fencepost', planProblems(plan))
    refuseIfAny('provider', providerProblems(service.provider, plan))
    this.#functions = serverlessFunctions(plan)
    refuseIfAny('functions', taken(service.functions, this.#functions))
    Object.assign(service.functions, this.#functions)
    service.resources = mergeTemplates(service.resources, template(plan))
    service.package.individually = true
    service.provider.logRetentionInDays ??= plan.logRetentionDays
    this.#plan = plan
    this.#warn(plan)
  }

  /** A relay's name and topics are its own; the settings only say where its module is. */
  async #relayFacts({ relays }: DeploymentSettings): Promise<ReadonlyMap<string, RelayFacts>> {
    const facts = new Map<string, RelayFacts>()
    const misnamed: Problem[] = []
    for (const [name, { module }] of Object.entries(relays)) {
      const relay = await loadRelay(resolve(this.#serverless.serviceDir, moduleOf(name, module)))
      facts.set(name, relay)
      if (relay.name === name) continue
      const wanted = `'${relay.name}', the name in ${moduleOf(name, module)}: transactional ids are made of it`
      misnamed.push({ path: 'relays', found: `'${name}'`, wanted, fix: 'write the same name in both' })
    }
    refuseIfAny('custom.fencepost', misnamed)
    return facts
  }

  async #bundle(isWanted: (key: string) => boolean): Promise<void> {
    const { serviceDir } = this.#serverless
    for (const relay of this.#plan?.relays ?? []) {
      for (const { key, entry } of relay.functions.filter((one) => isWanted(one.key))) {
        const artifact = join(serviceDir, '.serverless', `${key}.zip`)
        await writeArtifact(resolve(serviceDir, relay.module), entry, artifact)
        const compiled = this.#functions[key]
        if (compiled) compiled.package = { artifact }
      }
    }
  }

  /** Of `deploy function`, which looks roles up by their names; ours have none, and this one stays as it is deployed. */
  async #bundleOne(wanted: string | undefined): Promise<void> {
    await this.#bundle((key) => key === wanted)
    const one = this.#functions[wanted ?? '']
    if (one) delete one.role
  }

  #warn({ relays, acceptWeakTopics, place }: DeploymentPlan): void {
    if (acceptWeakTopics) {
      this.#log.warning(
        `acceptWeakTopics: functions of stage ${place.stage} work with topics that lose acknowledged records with a single broker; nothing is promised beyond that`,
      )
    }
    for (const { facts, filter } of relays) {
      if (filter.length === 0) continue
      this.#log.warning(
        `relay ${facts.name}: records that its filter lets pass by do not ring; they are relayed with the next record that does, or by the sweep`,
      )
    }
  }
}

function taken(existing: Readonly<Record<string, unknown>>, ours: Readonly<Record<string, unknown>>): Problem[] {
  const ids = new Set(Object.keys(ours).map(idPart))
  return Object.keys(existing)
    .filter((key) => ids.has(idPart(key)))
    .map((key) => ({
      path: `functions.${key}`,
      found: 'defined in serverless.yml',
      wanted: 'a key that no relay has, also without its punctuation',
      fix: 'rename the function or the relay',
    }))
}

export { FencepostPlugin as 'module.exports' }
