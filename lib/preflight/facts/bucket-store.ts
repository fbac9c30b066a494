import { GetBucketVersioningCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { type Told, told, untold } from '../finding.ts'
import type { BucketFacts } from './facts.ts'
import { type AwsPlace, awsRefusal } from './table-store.ts'

/** The snapshot bucket; untold where it does not exist or this role may not ask. */
export async function readBucket(name: string, place: AwsPlace): Promise<Told<BucketFacts>> {
  const isEmulator = place.endpoint !== undefined
  const client = new S3Client({ maxAttempts: 2, forcePathStyle: isEmulator, ...place })
  try {
    await client.send(new HeadBucketCommand({ Bucket: name }))
    return told({ name, versioned: await versioned(client, name) })
  } catch (error) {
    return untold(awsRefusal(error))
  } finally {
    client.destroy()
  }
}

async function versioned(client: S3Client, name: string): Promise<Told<boolean>> {
  try {
    const { Status: status } = await client.send(new GetBucketVersioningCommand({ Bucket: name }))
    return told(status === 'Enabled')
  } catch (error) {
    return untold(`GetBucketVersioning: ${awsRefusal(error)}`)
  }
}
