import { secretVariable } from './secrets.ts'
import { type Setting, settings } from './settings.ts'

/** The reference page of all settings, as Markdown: docs/reference/settings.md is this text. */
export function settingsReference(): string {
  const rows = Object.values<Setting<unknown>>(settings).map(row)
  return `${[
    '# Settings of a deployment',
    '',
    'Environment variables of every function, checked together at cold start. An unknown `FENCEPOST_` variable is refused;',
    'an empty one counts as missing.',
    '',
    '| variable | default | meaning |',
    '|---|---|---|',
    ...rows,
    `| \`${secretVariable('<NAME>')}\` | | What \`secret('<NAME>')\` gives to the \`setup\` of a relay: this text, or what the secret holds that it names. |`,
    '',
    'A secret is named as `secretsmanager:<name or ARN>`, as `ssm:<parameter name>`, or by the ARN of a secret or parameter:',
    '[security](../operations/security.md).',
    '',
    'The function timeout is set on the function itself: at most 14 minutes, and below the transaction timeout.',
  ].join('\n')}\n`
}

function row(setting: Setting<unknown>): string {
  const { env, about, example, byDefault, secret } = setting
  const more = secret ? ' Never shown in messages.' : ` For example \`${example}\`.`
  return `| \`${env}\` | ${defaultText(byDefault, setting.optional)} | ${about}${byDefault === example ? '' : more} |`
}

function defaultText(byDefault: string | undefined, isOptional: true | undefined): string {
  if (byDefault === undefined) return isOptional ? '' : '**required**'
  return byDefault === '' ? 'empty' : `\`${byDefault}\``
}
