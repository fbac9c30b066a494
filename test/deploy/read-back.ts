import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventSourceMappingConfiguration, FunctionConfiguration } from '@aws-sdk/client-lambda'
import { settings } from '../../lib/relay/config/settings.ts'
import type { Deployed, FunctionFacts, TemplateResource, Tree } from '../helpers/template/deployed.ts'
import type { Holdings } from './account.ts'

/** Kept in SSM by the test; what CloudFormation must have looked up. */
export const brokerAddresses = 'b-1.example.com:9096,b-2.example.com:9096'

/** Where the account differs from a template, and its code from the zips in a folder. */
export async function readBackFaults(zips: string, deployed: Deployed, found: Holdings): Promise<readonly string[]> {
  const functions = await Promise.all(
    deployed.functions.map((one) => functionFaults(zips, one, functionOf(found, one))),
  )
  const mappings = Object.entries(deployed.resources)
    .filter(([, { Type }]) => Type === 'AWS::Lambda::EventSourceMapping')
    .map(([id, its]) => mappingFaults(id, its, mappingOf(found, its)))
  return [...countFaults(deployed, found), ...functions.flat(), ...mappings.flat()]
}

function countFaults({ resources }: Deployed, { names }: Holdings): string[] {
  return Object.entries(names)
    .filter(([type]) => type !== 'AWS::CloudFormation::Stack')
    .flatMap(([type, list]) => {
      const wanted = Object.values(resources).filter(({ Type }) => Type === type).length
      return list.length === wanted ? [] : [`${type}: ${list.length} in the account, ${wanted} in the template`]
    })
}

const functionOf = ({ functions }: Holdings, { key }: FunctionFacts) =>
  functions.find(({ FunctionName }) => FunctionName?.endsWith(`-${key}`) && isWhole(FunctionName, key))

/** `orders-sweep` ends with `sweep` too. */
const isWhole = (name: string, key: string): boolean => name.split('-').length === 3 + key.split('-').length

async function functionFaults(zips: string, wanted: FunctionFacts, found: FunctionConfiguration | undefined) {
  if (!found) return [`function ${wanted.key} is missing`]
  const zip = await readFile(join(zips, `${wanted.key}.zip`))
  const environment = found.Environment?.Variables ?? {}
  return differences(`function ${wanted.key}`, [
    ['runtime', wanted.runtime, found.Runtime],
    ['architecture', wanted.architecture, found.Architectures?.join()],
    ['handler', wanted.handler, found.Handler],
    ['timeout', wanted.timeoutSeconds, found.Timeout],
    ['code', createHash('sha256').update(zip).digest('base64'), found.CodeSha256],
    ['generation', wanted.environment[settings.generation.env], environment[settings.generation.env]],
    ['variables', Object.keys(wanted.environment).sort(), Object.keys(environment).sort()],
    ['brokers', brokerAddresses, environment[settings.brokers.env]],
  ])
}

const mappingOf = ({ mappings }: Holdings, { Properties }: TemplateResource) =>
  mappings.find(({ Topics, ...found }) => {
    const group = (Properties.SelfManagedKafkaEventSourceConfig as Tree).ConsumerGroupId
    return found.SelfManagedKafkaEventSourceConfig?.ConsumerGroupId === group
  })

/** As written, except for what the template only refers to. */
function mappingFaults(
  id: string,
  { Properties }: TemplateResource,
  found: EventSourceMappingConfiguration | undefined,
) {
  if (!found) return [`${id} is missing`]
  const { FunctionName: _function, Enabled: _enabled, SelfManagedEventSource: _brokers, ...plain } = Properties
  const kept = found as unknown as Tree
  return differences(id, [
    ...Object.entries(plain).map(([name, value]) => [name, value, kept[name]] as const),
    ['brokers', brokerAddresses, found.SelfManagedEventSource?.Endpoints?.KAFKA_BOOTSTRAP_SERVERS?.join()],
  ])
}

type Comparison = readonly [what: string, wanted: unknown, found: unknown]

const differences = (where: string, all: readonly Comparison[]): string[] =>
  all
    .map(([what, wanted, found]) => [what, JSON.stringify(wanted), JSON.stringify(found)] as const)
    .filter(([, wanted, found]) => wanted !== found)
    .map(([what, wanted, found]) => `${where}: ${what} is ${found}, wanted ${wanted}`)
