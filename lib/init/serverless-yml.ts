import type { ServiceNames } from './names.ts'

/** Read by the Serverless CLI; `fencepost/plugin` makes everything of `custom.fencepost`. */
export const serverlessYml = ({ service, relay }: ServiceNames): string => `service: ${service}
frameworkVersion: "4"
configValidationMode: error
plugins:
  - fencepost/plugin

provider:
  name: aws
  runtime: nodejs24.x
  architecture: arm64
  region: \${opt:region, env:AWS_REGION, 'eu-central-1'}
  stage: \${opt:stage, 'dev'}

params:
  default:
    brokers: \${env:FENCEPOST_BROKERS, 'localhost:9092'} # host:port, several divided by commas
    protect: false # a removed stack takes its table with it
  prod:
    brokers: { ssm: /${service}/prod/brokers } # looked up when the stack is deployed
    protect: true

# Logins, VPC, alarms and all other settings: node_modules/fencepost/docs/operations/deploy.md
custom:
  fencepost:
    prefix: \${self:service}-\${sls:stage} # transactional ids start with it: unique per deployment, and never changed
    brokers: \${param:brokers}
    protect: \${param:protect}
    relays:
      ${relay}: { latency: 5s }
`
