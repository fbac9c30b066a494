import { type Assertion, at, type Deployed, ofType, type Tree } from './deployed.ts'

const statements = (deployed: Deployed): (readonly [id: string, statement: Tree])[] =>
  ofType(deployed, 'AWS::IAM::Role').flatMap(([id, { Properties }]) => {
    const policies = Properties.Policies as readonly Tree[]
    return policies.flatMap((policy) =>
      (at(policy, 'PolicyDocument', 'Statement') as readonly Tree[]).map((statement) => [id, statement] as const),
    )
  })

export const permissionAssertions: readonly Assertion[] = [
  {
    says: 'no role may do everything of a service',
    faults: (deployed) =>
      statements(deployed)
        .filter(([, { Action }]) => [Action].flat().some((action) => String(action).includes('*')))
        .map(([id]) => id),
  },
  {
    says: 'no role may do anything to every resource, network interfaces aside',
    faults: (deployed) =>
      statements(deployed)
        .filter(([, { Action, Resource }]) => {
          const isNetwork = [Action].flat().every((action) => String(action).startsWith('ec2:'))
          return !isNetwork && [Resource].flat().some((resource) => resource === '*')
        })
        .map(([id]) => id),
  },
]
