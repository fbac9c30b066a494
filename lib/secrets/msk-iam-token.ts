import { messageOf, RelayError } from '../errors.ts'

/**
 * A token for MSK's IAM listeners: a request signed with the credentials of this process, good for 15 minutes. The
 * signer of AWS is an optional peer dependency, loaded by the first connection that needs it.
 *
 * @throws RelayError CONFIG_INVALID without signer or region; SECRET_UNREADABLE without credentials
 */
export async function mskIamToken(env: Readonly<Record<string, string | undefined>> = process.env): Promise<string> {
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION
  if (!region) throw new RelayError('CONFIG_INVALID', 'aws-msk-iam needs AWS_REGION, the region of the cluster')
  const { generateAuthToken } = await import('aws-msk-iam-sasl-signer-js').catch((cause) => {
    throw new RelayError('CONFIG_INVALID', 'aws-msk-iam needs its signer: npm install aws-msk-iam-sasl-signer-js', {
      cause,
    })
  })
  try {
    return (await generateAuthToken({ region })).token
  } catch (cause) {
    throw new RelayError('SECRET_UNREADABLE', `no credentials to sign a token for MSK with: ${messageOf(cause)}`, {
      cause,
    })
  }
}
