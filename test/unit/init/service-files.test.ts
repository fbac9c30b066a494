import { expect, test } from 'vitest'
import { ownPackage } from '../../../lib/init/own-package.ts'
import { serviceFiles } from '../../../lib/init/service-files.ts'

const { tested } = await ownPackage()
const files = serviceFiles({ service: 'shop', relay: 'large-orders', fencepost: '1.2.3', tested })
const file = (path: string) => files.get(path) ?? expect.fail(`no ${path}`)

test('a service has its relay, a test of it, a deployment and a README that names them', () => {
  expect([...files.keys()].toSorted()).toEqual([
    '.gitignore',
    'README.md',
    'package.json',
    'relays/large-orders.ts',
    'serverless.yml',
    'test/large-orders.test.ts',
    'tsconfig.json',
  ])
  for (const path of ['relays/large-orders.ts', 'test/large-orders.test.ts', 'serverless.yml'])
    expect(file('README.md')).toContain(`\`${path}\``)
})

test('all versions are exact, and those that Fencepost is tested with', () => {
  const { name, dependencies, devDependencies } = JSON.parse(file('package.json'))
  expect(name).toBe('shop')
  expect(dependencies).toEqual({ fencepost: '1.2.3', valibot: tested.valibot })
  for (const [tool, version] of Object.entries<string>(devDependencies)) {
    expect(version, tool).toBe(tested[tool])
    expect(version, tool).toMatch(/^(npm:osls@)?\d+\.\d+\.\d+$/)
  }
})

test('the relay has one name in its module, its test and its deployment', () => {
  expect(file('relays/large-orders.ts')).toContain("name: 'large-orders'")
  expect(file('test/large-orders.test.ts')).toContain("'../relays/large-orders.ts'")
  expect(file('serverless.yml')).toMatch(/^ {6}large-orders: \{ latency: 5s \}$/m)
})

test('the prefix of transactional ids is the service and the stage', () => {
  expect(file('serverless.yml')).toContain('service: shop\n')
  expect(file('serverless.yml')).toContain(`prefix: ${'$'}{self:service}-${'$'}{sls:stage}`)
})
