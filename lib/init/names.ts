import type { Problem } from '../problems.ts'
import { isLegalRelayName, relayNameRule } from '../transaction/ids.ts'

export interface ServiceNames {
  /** Of the folder, the npm package, the CloudFormation stack and, with the stage, the prefix of transactional ids. */
  readonly service: string
  readonly relay: string
}

const functionNameCharactersMax = 64
/** Of `-<stage>-` and `-status`, with a stage of eight characters. */
const otherCharacters = '-12345678-'.length + '-status'.length
const bothCharactersMax = functionNameCharactersMax - otherCharacters

/** CloudFormation wants a letter first and no underscore, npm wants lower case. */
const serviceName = /^[a-z][a-z0-9-]{0,39}$/
const serviceRule = "1 to 40 lower-case letters, digits or '-', a letter first: stacks and npm packages are named so"

export function nameProblems({ service, relay }: ServiceNames): Problem[] {
  const both = service.length + relay.length
  return [
    ...wrongUnless(serviceName.test(service), {
      path: 'the name of the folder',
      found: `'${service}'`,
      wanted: serviceRule,
      fix: 'choose another folder',
    }),
    ...wrongUnless(isLegalRelayName(relay), {
      path: '--relay',
      found: `'${relay}'`,
      wanted: relayNameRule,
      fix: 'give another name',
    }),
    ...wrongUnless(both <= bothCharactersMax, {
      path: 'the name of the folder with that of the relay',
      found: `${both} characters`,
      wanted: `at most ${bothCharactersMax}: functions are named <folder>-<stage>-<relay>-status, which Lambda bounds at ${functionNameCharactersMax}`,
      fix: 'shorten one of them, or give a short --relay',
    }),
  ]
}

const wrongUnless = (isRight: boolean, problem: Problem): Problem[] => (isRight ? [] : [problem])
