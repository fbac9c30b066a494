import { RelayError } from '../../errors.ts'

const PREFIX = 'FENCEPOST_SECRET_'

/** The variable of a secret: FENCEPOST_SECRET_SCORING_KEY for `secret('SCORING_KEY')`. */
export const secretVariable = (name: string): string => PREFIX + name

/** Reads the secrets that `setup` asks for from the environment. @throws RelayError CONFIG_INVALID when one is missing */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>) {
  return async (name: string): Promise<string> => {
    const value = env[secretVariable(name)]
    if (value) return value
    throw new RelayError('CONFIG_INVALID', `secret '${name}' is missing; set ${secretVariable(name)}`)
  }
}
