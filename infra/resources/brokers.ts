import { type Parameter, ref, type Value } from '../cloudformation.ts'
import type { DeploymentPlan } from '../plan.ts'

const parameterId = 'KafkaBrokers'

type Brokers = Pick<DeploymentPlan, 'brokers'>

/** Brokers that are kept in SSM are looked up by CloudFormation when it deploys: packaging needs no account. */
export function brokerParameters({ brokers }: Brokers): Readonly<Record<string, Parameter>> {
  if (!('ssm' in brokers)) return {}
  const Description = 'Addresses of the Kafka cluster, kept in SSM'
  return { [parameterId]: { Type: 'AWS::SSM::Parameter::Value<List<String>>', Default: brokers.ssm, Description } }
}

export const bootstrapServers = ({ brokers }: Brokers): Value => ('ssm' in brokers ? ref(parameterId) : brokers)

/** As the functions get them: divided by commas. */
export const brokerList = ({ brokers }: Brokers): Value =>
  'ssm' in brokers ? { 'Fn::Join': [',', ref(parameterId)] } : brokers.join(',')
