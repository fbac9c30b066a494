import { expect, test } from 'vitest'
import type { Statement } from '../../../infra/resources/roles.ts'
import { type Account, allows } from '../../helpers/policies.ts'

const account: Account = {
  region: 'eu-central-1',
  account: '123456789012',
  arns: { Table: 'arn:aws:dynamodb:eu-central-1:123456789012:table/fences' },
}

const statement = (over: Partial<Statement>): Statement => ({
  Sid: 'Test',
  Effect: 'Allow',
  Action: ['s3:GetObject'],
  Resource: ['arn:aws:s3:::bucket/own/*'],
  ...over,
})
const get = (resource: string) => ({ action: 's3:GetObject', resource })

test('what no statement names is not allowed', () => {
  expect(allows([], account, get('arn:aws:s3:::bucket/own/a'))).toBe(false)
  expect(allows([statement({})], account, { action: 's3:PutObject', resource: 'arn:aws:s3:::bucket/own/a' })).toBe(
    false,
  )
})

test('wildcards match within the resource, dots are dots', () => {
  expect(allows([statement({})], account, get('arn:aws:s3:::bucket/own/a/b'))).toBe(true)
  expect(allows([statement({})], account, get('arn:aws:s3:::bucket/others/own/a'))).toBe(false)
  expect(allows([statement({ Resource: ['a.b-??'] })], account, get('axb-12'))).toBe(false)
  expect(allows([statement({ Resource: ['a.b-??'] })], account, get('a.b-123'))).toBe(false)
  expect(allows([statement({ Resource: ['a.b-??'] })], account, get('a.b-12'))).toBe(true)
})

test('actions are compared without case, as IAM does', () => {
  expect(allows([statement({ Action: ['S3:getobject'] })], account, get('arn:aws:s3:::bucket/own/a'))).toBe(true)
})

test('references are resolved, and an unknown one is an error', () => {
  const table = statement({ Action: ['dynamodb:Scan'], Resource: [{ 'Fn::GetAtt': ['Table', 'Arn'] }] })
  expect(allows([table], account, { action: 'dynamodb:Scan', resource: account.arns.Table ?? '' })).toBe(true)
  const unknown = statement({ Resource: [{ 'Fn::GetAtt': ['Other', 'Arn'] }] })
  expect(() => allows([unknown], account, get('x'))).toThrow(/Other/)
})

const keys = (Condition: NonNullable<Statement['Condition']>) => statement({ Resource: ['*'], Condition })

test('every value of a key must match one of the patterns', () => {
  const own = keys({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['a.*', 'b.*'] } })
  const asking = (...values: string[]) => ({ ...get('x'), context: { 'dynamodb:LeadingKeys': values } })
  expect(allows([own], account, asking('a.1', 'b.2'))).toBe(true)
  expect(allows([own], account, asking('a.1', 'c.2'))).toBe(false)
})

test('a key that the request lacks is refused where the policy wants it', () => {
  const wanted = keys({ Null: { 'dynamodb:LeadingKeys': 'false' } })
  expect(allows([wanted], account, get('x'))).toBe(false)
  expect(allows([wanted], account, { ...get('x'), context: { 'dynamodb:LeadingKeys': ['a'] } })).toBe(true)
})

test('a condition that is not known allows nothing', () => {
  expect(allows([keys({ IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } })], account, get('x'))).toBe(false)
})
