import { type Assertion, at, type Deployed, ofType, unless } from './deployed.ts'

export const storeAssertions: readonly Assertion[] = [
  {
    says: 'the fence table is on demand, can be recovered, and is kept where it is protected',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::DynamoDB::Table'), ({ Properties: its, DeletionPolicy }) => {
        const isKept = its.DeletionProtectionEnabled === true
        return (
          its.BillingMode === 'PAY_PER_REQUEST' &&
          at(its, 'PointInTimeRecoverySpecification', 'PointInTimeRecoveryEnabled') === true &&
          DeletionPolicy === (isKept ? 'Retain' : 'Delete')
        )
      }),
  },
  {
    says: 'records of the fence table never expire',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::DynamoDB::Table'), (its) => !('TimeToLiveSpecification' in its.Properties)),
  },
  {
    says: 'the snapshot bucket is private, encrypted, versioned and cleaned',
    faults: (deployed) =>
      unless(snapshotBuckets(deployed), ({ Properties: its }) => {
        const isPrivate = Object.values(its.PublicAccessBlockConfiguration ?? {}).filter((one) => one === true).length
        return (
          isPrivate === 4 &&
          JSON.stringify(its.BucketEncryption).includes('SSEAlgorithm') &&
          at(its, 'VersioningConfiguration', 'Status') === 'Enabled' &&
          JSON.stringify(its.LifecycleConfiguration).includes('NoncurrentVersionExpiration')
        )
      }),
  },
  {
    says: 'every bucket is spoken to over TLS only',
    faults: (deployed) => {
      const guarded = ofType(deployed, 'AWS::S3::BucketPolicy')
        .filter(([, its]) => JSON.stringify(its).includes('"aws:SecureTransport":false'))
        .map(([, { Properties }]) => at(Properties, 'Bucket', 'Ref'))
      return ofType(deployed, 'AWS::S3::Bucket').flatMap(([id]) => (guarded.includes(id) ? [] : [id]))
    },
  },
]

/** The other is the Serverless CLI's own, for code. */
const snapshotBuckets = (deployed: Deployed) =>
  ofType(deployed, 'AWS::S3::Bucket').filter(([id]) => id !== 'ServerlessDeploymentBucket')
