import { settings } from '../../../lib/relay/config/settings.ts'
import { minutes, seconds } from '../../../lib/units.ts'
import { type Assertion, type Deployed, type FunctionFacts, repeated, type Tree } from './deployed.ts'
import { isProvisioned, mappings } from './mappings.ts'

const numberOf = (environment: Tree, { env }: { readonly env: string }): number => Number(environment[env])
const functionFaults = (deployed: Deployed, holds: (one: FunctionFacts) => boolean): string[] =>
  deployed.functions.filter((one) => !holds(one)).map(({ key }) => key)

const known = new Set<string>(Object.values(settings).map(({ env }) => env))
const secretTexts = [settings.saslPassword, settings.tlsKey, settings.tlsKeyPassphrase, settings.registryPassword]

export const functionAssertions: readonly Assertion[] = [
  {
    says: 'functions run on Node 24 and arm64, from one module',
    faults: (deployed) =>
      functionFaults(
        deployed,
        ({ runtime, architecture, handler }) =>
          runtime === 'nodejs24.x' && architecture === 'arm64' && handler === 'index.handler',
      ),
  },
  {
    says: 'functions end within 14 minutes, before the broker aborts their transactions, which it does within 15',
    faults: (deployed) =>
      functionFaults(deployed, ({ timeoutSeconds, environment }) => {
        const transactionMs = numberOf(environment, settings.transactionTimeoutMs)
        const timeoutMs = timeoutSeconds * seconds(1)
        return timeoutMs <= minutes(14) && timeoutMs < transactionMs && transactionMs <= minutes(15)
      }),
  },
  {
    says: 'functions have each setting that they must have, and none that they do not know',
    faults: (deployed) =>
      functionFaults(deployed, ({ environment }) => {
        const given = Object.keys(environment).filter((name) => name.startsWith('FENCEPOST_'))
        const isKnown = given.every((name) => known.has(name) || name.startsWith('FENCEPOST_SECRET_'))
        return isKnown && [settings.prefix, settings.brokers, settings.table].every(({ env }) => environment[env])
      }),
  },
  {
    says: 'an invocation by a schedule is not repeated: the next one does its work',
    faults: (deployed) => functionFaults(deployed, ({ schedule }) => schedule === null || schedule.retries === 0),
  },
  {
    says: 'every relay is swept by a schedule',
    faults: (deployed) => functionFaults(deployed, ({ key, schedule }) => !key.endsWith('-sweep') || schedule !== null),
  },
  {
    says: 'no function has a password or a private key in its environment',
    faults: (deployed) =>
      functionFaults(deployed, ({ environment }) => secretTexts.every(({ env }) => !(env in environment))),
  },
  {
    says: 'each function has a role of its own',
    faults: (deployed) => repeated(deployed.functions.map(({ role }) => JSON.stringify(role))),
  },
  {
    says: 'functions that report lane by lane are behind mappings that listen to it, and no others',
    faults: (deployed) => {
      const listening = mappings(deployed)
        .filter(([, its]) => isProvisioned(its))
        .map(([id]) => id.replace('EventSourceMapping', '').toLowerCase())
      const reporting = deployed.functions
        .filter(({ environment }) => environment[settings.partialFailures.env] === 'true')
        .map(({ key }) => key.replaceAll('-', 'dash').replaceAll('_', 'underscore'))
      return [...new Set(listening)]
        .filter((one) => !reporting.includes(one))
        .concat(reporting.filter((one) => !listening.includes(one)))
    },
  },
]
