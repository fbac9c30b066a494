import { parseSecretReference, type SecretReference } from '../../lib/secrets/secret-reference.ts'
import { sub, type Value } from '../cloudformation.ts'

export interface SecretArns {
  readonly secretsmanager: readonly Value[]
  readonly ssm: readonly Value[]
}

/** Which of these values are references to secrets, as ARNs that a role may be allowed. */
export function secretArns(values: readonly Value[]): SecretArns {
  const references = values.flatMap((value) => {
    const reference = typeof value === 'string' ? parseSecretReference(value) : null
    return reference ? [reference] : []
  })
  const of = (service: SecretReference['service']): Value[] => [
    ...new Set(references.filter((one) => one.service === service).map(arnOf)),
  ]
  return { secretsmanager: of('secretsmanager'), ssm: of('ssm') }
}

/** Secrets Manager adds a dash and six characters to the name that people give. */
function arnOf({ service, id }: SecretReference): Value {
  if (id.startsWith('arn:')) return id
  if (service === 'secretsmanager') return here(`secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:${id}-??????`)
  return here(`ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/${id.replace(/^\//, '')}`)
}

const here = (rest: string): Value => sub(`arn:\${AWS::Partition}:${rest}`)
