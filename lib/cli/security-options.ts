import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../errors.ts'
import { settings } from '../relay/config/settings.ts'

/** How a command logs in to Kafka. There is no option for a password: command lines are seen by everybody on a machine. */
export interface SecurityOptions {
  readonly tls?: boolean
  /** Contents of the files. */
  readonly tlsCa?: string
  readonly tlsCertificate?: string
  readonly tlsKey?: string
  readonly sasl?: string
  readonly username?: string
  /** Contents of the file. */
  readonly passwordFile?: string
  readonly saslSecret?: string
}

export const securityOptions = (command: Command): Command =>
  command
    .option('--tls', 'encrypt connections to Kafka')
    .option('--tls-ca <file>', 'PEM of the authorities to trust', textOf)
    .option('--tls-certificate <file>', 'PEM of the certificate to show', textOf)
    .option('--tls-key <file>', 'PEM of its private key', textOf)
    .addOption(new Option('--sasl <mechanism>', 'plain, scram-sha-256, scram-sha-512 or aws-msk-iam'))
    .option('--username <name>', 'to log in with')
    .option('--password-file <file>', 'a file that holds the password and nothing else', textOf)
    .option('--sasl-secret <secret>', 'that holds both: secretsmanager:<name or ARN>, ssm:<parameter>')

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${messageOf(error)}.`)
  }
}

/** The same as environment variables of a function; '' takes away what the environment says of it in another way. */
export function securityEnvironment(options: SecurityOptions): NodeJS.ProcessEnv {
  const { tls, tlsCa, tlsCertificate, tlsKey, sasl, username, passwordFile, saslSecret } = options
  const variables: readonly (readonly [keyof typeof settings, string | undefined])[] = [
    ['tls', tls ? 'true' : undefined],
    ['tlsCa', tlsCa],
    ['tlsCaSecret', tlsCa && ''],
    ['tlsCertificate', tlsCertificate],
    ['tlsKey', tlsKey],
    ['tlsClientSecret', tlsCertificate && ''],
    ['saslMechanism', sasl],
    ['saslUsername', username ?? (saslSecret && '')],
    ['saslPassword', passwordFile ?? (saslSecret && '')],
    ['saslSecret', saslSecret ?? ((username ?? passwordFile) && '')],
  ]
  const said = variables.filter(([, value]) => value !== undefined)
  return Object.fromEntries(said.map(([name, value]) => [settings[name].env, value]))
}
