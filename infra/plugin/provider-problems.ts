import type { Problem } from '../../lib/problems.ts'
import type { DeploymentPlan } from '../plan.ts'

type Provider = Readonly<Record<string, unknown>>

/**
 * What of `provider:` the CLI gives to every function, those of relays included, and their roles and checks do not know:
 * found at packaging, and not when Lambda refuses the role or a function its environment.
 */
export function providerProblems(provider: Provider, { vpc, kmsKey }: DeploymentPlan): Problem[] {
  const variables = Object.keys((provider.environment as Provider | undefined) ?? {})
  const rules: readonly (readonly [name: string, isWrong: boolean, fix: string])[] = [
    ['vpc', isGiven(provider.vpc) && vpc === undefined, 'set vpc of custom.fencepost, too: roles follow from it'],
    ['tracing.lambda', isTraced(provider), 'set tracing at your own functions: roles of relays do not write traces'],
    [
      'kmsKeyArn',
      provider.kmsKeyArn !== undefined && provider.kmsKeyArn !== kmsKey,
      'set kmsKeyArn at your own functions, or kmsKey of custom.fencepost to the same key: roles follow from it',
    ],
    ...variables
      .filter((name) => name.startsWith('FENCEPOST_'))
      .map(
        (name) => [`environment.${name}`, true, 'set it in environment of the relays: it is checked there'] as const,
      ),
  ]
  return rules
    .filter(([, isWrong]) => isWrong)
    .map(([name, , fix]) => ({
      path: `provider.${name}`,
      found: 'set',
      wanted: 'nothing that functions of relays would get unseen',
      fix,
    }))
}

/** The CLI itself leaves an empty one. */
const isGiven = (vpc: unknown): boolean => Object.keys((vpc as Provider | undefined) ?? {}).length > 0

const isTraced = ({ tracing }: Provider): boolean => Boolean((tracing as Provider | undefined)?.lambda)
