import { type RegistryLogin, type RegistryLoginSource, schemaRegistry } from '../../codecs/registry/http-registry.ts'
import type { SchemaRegistry } from '../../codecs/registry/schema-registry.ts'
import { createAwsSecretStore } from '../../secrets/aws-secret-store.ts'
import { secretFields } from '../../secrets/secret-contents.ts'
import type { SecretReference } from '../../secrets/secret-reference.ts'
import { cachedSecrets, type Secrets } from '../../secrets/secrets.ts'
import type { RegistryConfig } from './config.ts'

/** The registry of a deployment; connects when the first schema is asked for. */
export function deploymentRegistry(
  config: RegistryConfig | null,
  secrets = cachedSecrets(createAwsSecretStore()),
): SchemaRegistry | null {
  if (config === null) return null
  const { url, login } = config
  if (login === null) return schemaRegistry({ url })
  return schemaRegistry({ url, login: 'service' in login ? secretLogin(login, secrets) : login })
}

function secretLogin(reference: SecretReference, secrets: Secrets): RegistryLoginSource {
  const texts = new WeakMap<RegistryLogin, string>()
  const loginIn = (text: string): RegistryLogin => {
    const login = { ...secretFields(reference, text, ['username', 'password']) }
    texts.set(login, text)
    return login
  }
  return {
    current: async () => loginIn(await secrets.read(reference)),
    async renewed(refused) {
      const text = await secrets.readAnew(reference, texts.get(refused) ?? '')
      return text === null ? null : loginIn(text)
    },
  }
}
