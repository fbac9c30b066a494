import { attribute, type Resources, ref, sub } from '../cloudformation.ts'
import type { DeploymentPlan } from '../plan.ts'

export const snapshotBucketId = 'SnapshotBucket'

const supersededDays = 7

/** Snapshots of keyed state: private, encrypted, over TLS only; what was overwritten or deleted stays for a week. */
export function snapshotBucket({ snapshots, protect }: Pick<DeploymentPlan, 'snapshots' | 'protect'>): Resources {
  if (!snapshots) return {}
  const policy = protect ? 'Retain' : 'Delete'
  return {
    [snapshotBucketId]: {
      Type: 'AWS::S3::Bucket',
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        VersioningConfiguration: { Status: 'Enabled' },
        LifecycleConfiguration: {
          Rules: [
            {
              Id: 'superseded-snapshots',
              Status: 'Enabled',
              NoncurrentVersionExpiration: { NoncurrentDays: supersededDays },
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            },
          ],
        },
      },
    },
    SnapshotBucketPolicy: {
      Type: 'AWS::S3::BucketPolicy',
      Properties: {
        Bucket: ref(snapshotBucketId),
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Sid: 'TlsOnly',
              Effect: 'Deny',
              Principal: '*',
              Action: 's3:*',
              Resource: [attribute(snapshotBucketId, 'Arn'), sub(`\${${snapshotBucketId}.Arn}/*`)],
              Condition: { Bool: { 'aws:SecureTransport': false } },
            },
          ],
        },
      },
    },
  }
}
