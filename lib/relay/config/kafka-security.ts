import type { ConnectionOptions } from 'node:tls'
import type { SaslConfig } from '../../kafka/connection-config.ts'
import type { ConnectionSecurity, SecuritySource } from '../../kafka/security.ts'
import { secretField, secretFields } from '../../secrets/secret-contents.ts'
import type { SecretReference } from '../../secrets/secret-reference.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** Secrets that protect connections to brokers. */
export interface KafkaSecrets {
  /** JSON: `username`, `password`. */
  readonly sasl?: { readonly mechanism: LoginMechanism; readonly secret: SecretReference }
  /** PEM, or JSON: `certificate`. */
  readonly tlsCa?: SecretReference
  /** JSON: `certificate`, `privateKey`, perhaps `privateKeyPassword`. */
  readonly tlsClient?: SecretReference
}

type LoginMechanism = Exclude<SaslConfig['mechanism'], 'oauthbearer'>
type Texts = ReadonlyMap<SecretReference, string>

/**
 * The fixed settings with what the secrets say on top. Secrets are kept while they work; after a refusal each is read
 * once more, which is how a rotated one comes into a warm container.
 */
export function kafkaSecurity(fixed: ConnectionSecurity, named: KafkaSecrets, secrets: Secrets): SecuritySource {
  const references = [named.sasl?.secret, named.tlsCa, named.tlsClient].filter((one) => one !== undefined)
  const textsOf = new WeakMap<ConnectionSecurity, Texts>()

  function remember(texts: Texts): ConnectionSecurity {
    const security = securityOf(fixed, named, texts)
    textsOf.set(security, texts)
    return security
  }

  async function current(): Promise<ConnectionSecurity> {
    return remember(new Map(await Promise.all(references.map(async (one) => [one, await secrets.read(one)] as const))))
  }

  async function renewed(refused: ConnectionSecurity): Promise<ConnectionSecurity | null> {
    const texts = [...(textsOf.get(refused) ?? [])]
    const anew = await Promise.all(texts.map(async ([one, text]) => [one, await secrets.readAnew(one, text)] as const))
    if (anew.every(([, text]) => text === null)) return null
    return remember(new Map(anew.map(([one, text], index) => [one, text ?? texts[index]?.[1] ?? ''])))
  }

  return { current, renewed }
}

function securityOf(
  fixed: ConnectionSecurity,
  { sasl, tlsCa, tlsClient }: KafkaSecrets,
  texts: Texts,
): ConnectionSecurity {
  const textOf = (reference: SecretReference): string => texts.get(reference) ?? ''
  const tls: ConnectionOptions = {
    ...(typeof fixed.tls === 'object' && fixed.tls),
    ...(tlsCa && { ca: secretField(textOf(tlsCa), 'certificate') ?? textOf(tlsCa) }),
    ...(tlsClient && clientOf(tlsClient, textOf(tlsClient))),
  }
  return {
    ...fixed,
    ...((tlsCa || tlsClient) && { tls }),
    ...(sasl && { sasl: { mechanism: sasl.mechanism, ...loginOf(sasl.secret, textOf(sasl.secret)) } }),
  }
}

const loginOf = (reference: SecretReference, text: string) => secretFields(reference, text, ['username', 'password'])

function clientOf(reference: SecretReference, text: string): ConnectionOptions {
  const { certificate, privateKey } = secretFields(reference, text, ['certificate', 'privateKey'])
  const passphrase = secretField(text, 'privateKeyPassword')
  return { cert: certificate, key: privateKey, ...(passphrase && { passphrase }) }
}
