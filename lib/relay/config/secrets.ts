import { RelayError } from '../../errors.ts'
import { createAwsSecretStore } from '../../secrets/aws-secret-store.ts'
import { parseSecretReference } from '../../secrets/secret-reference.ts'
import { cachedSecrets } from '../../secrets/secrets.ts'

const PREFIX = 'FENCEPOST_SECRET_'

/** The variable of a secret: FENCEPOST_SECRET_SCORING_KEY for `secret('SCORING_KEY')`. */
export const secretVariable = (name: string): string => PREFIX + name

/**
 * Reads the secrets that `setup` asks for: the variable's own text, or what the secret holds that it names.
 * @throws RelayError CONFIG_INVALID when one is missing; SECRET_UNREADABLE
 */
export function environmentSecrets(
  env: Readonly<Record<string, string | undefined>>,
  secrets = cachedSecrets(createAwsSecretStore()),
) {
  return async (name: string): Promise<string> => {
    const value = env[secretVariable(name)]
    if (!value) throw new RelayError('CONFIG_INVALID', `secret '${name}' is missing; set ${secretVariable(name)}`)
    const reference = parseSecretReference(value)
    return reference ? secrets.read(reference) : value
  }
}
