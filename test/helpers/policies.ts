/** Evaluates IAM policies as far as Fencepost writes them. A condition that it does not know allows nothing. */
import type { Statement } from '../../infra/resources/roles.ts'
import type { Tree } from './template/deployed.ts'

export interface Request {
  readonly action: string
  readonly resource: string
  /** Condition keys of the request: several values, or none where it has no such key. */
  readonly context?: Readonly<Record<string, readonly string[]>>
}

/** Where the template would be deployed, and what its resources would be called there. */
export interface Account {
  readonly region: string
  readonly account: string
  readonly arns: Readonly<Record<string, string>>
}

/** Whether any statement allows it. Nothing here ever denies. */
export const allows = (statements: readonly Statement[], account: Account, request: Request): boolean =>
  statements.some(
    ({ Action, Resource, Condition = {} }) =>
      Action.some((pattern) => matches(pattern.toLowerCase(), request.action.toLowerCase())) &&
      Resource.some((pattern) => matches(resolved(pattern, account), request.resource)) &&
      Object.entries(Condition).every(([operator, keys]) => holds(operator, keys, request)),
  )

function holds(operator: string, keys: Tree, { context = {} }: Request): boolean {
  return Object.entries(keys).every(([key, wanted]) => {
    const values = context[key] ?? []
    const patterns = [wanted].flat().map(String)
    if (operator === 'Null') return patterns.every((isNull) => isNull === String(values.length === 0))
    if (operator === 'ForAllValues:StringLike') {
      return values.every((value) => patterns.some((pattern) => matches(pattern, value)))
    }
    return false
  })
}

/** `*` is any text and `?` any character, as in IAM. */
function matches(pattern: string, text: string): boolean {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(text)
}

/** A resource as CloudFormation would write it into the policy. */
export function resolved(value: unknown, { region, account, arns }: Account): string {
  if (typeof value === 'string') return value
  const { 'Fn::GetAtt': attribute, 'Fn::Sub': text } = value as { 'Fn::GetAtt'?: [string, string]; 'Fn::Sub'?: string }
  const names: Readonly<Record<string, string>> = {
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::AccountId': account,
    ...Object.fromEntries(Object.entries(arns).map(([id, arn]) => [`${id}.Arn`, arn])),
  }
  const name = (path: string): string => {
    const found = names[path]
    if (found === undefined) throw new Error(`the template refers to ${path}, which the test does not know`)
    return found
  }
  if (attribute) return name(attribute.join('.'))
  if (text !== undefined) return text.replaceAll(/\$\{([^}]+)\}/g, (_, path: string) => name(path))
  throw new Error(`${JSON.stringify(value)} is no resource`)
}
