import { type ErrorCode, type Outcome, RelayError } from '../errors.ts'

/** Where a request went, for messages. */
export interface FenceTable {
  readonly table: string
  /** Region, or the endpoint that replaces it. */
  readonly place: string
}

/** What the AWS SDK puts on what it throws. */
interface SdkError {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly $metadata?: { readonly attempts?: number; readonly httpStatusCode?: number }
}

interface Verdict {
  readonly names: readonly string[]
  readonly code: ErrorCode
  readonly says: string
  readonly fix: string
}

const verdicts: readonly Verdict[] = [
  {
    names: [
      'ProvisionedThroughputExceededException',
      'ThrottlingException',
      'ThrottledException',
      'RequestLimitExceeded',
      'RequestThrottled',
      'TooManyRequestsException',
    ],
    code: 'FENCE_STORE_THROTTLED',
    says: 'is throttled',
    fix: 'make the table on-demand or raise its capacity',
  },
  {
    names: ['ResourceNotFoundException', 'TableNotFoundException'],
    code: 'FENCE_TABLE_MISSING',
    says: 'does not exist',
    fix: 'deploy it, or correct the table name or region',
  },
  {
    names: [
      'AccessDeniedException',
      'AccessDenied',
      'CredentialsProviderError',
      'ExpiredTokenException',
      'IncompleteSignatureException',
      'InvalidSignatureException',
      'MissingAuthenticationTokenException',
      'UnrecognizedClientException',
    ],
    code: 'FENCE_TABLE_MISSING',
    says: 'may not be used',
    fix: "allow dynamodb:GetItem, UpdateItem and Scan on it to the function's role",
  },
  {
    names: ['AbortError'],
    code: 'FENCE_STORE_UNAVAILABLE',
    says: 'gave no answer in the time that was left',
    fix: 'give the function a longer timeout or smaller windows, or check the network path to DynamoDB',
  },
  {
    names: ['ValidationException'],
    code: 'FENCE_TABLE_MISSING',
    says: 'cannot be used',
    fix: 'correct the table name, or make a table whose only key is id (string)',
  },
]
const noAnswer: Verdict = {
  names: [],
  code: 'FENCE_STORE_UNAVAILABLE',
  says: 'gave no answer',
  fix: 'check the network path to DynamoDB (a VPC needs a gateway endpoint)',
}

/** No byte of the request left this machine. */
const neverSent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'CredentialsProviderError']

/**
 * What a failed request to DynamoDB means. The SDK's attempts count: what the last one was told says nothing of an
 * earlier one that was never answered, so a write is `not-applied` only if its single transmission was refused or never left.
 */
export function fenceStoreError(error: unknown, { table, place }: FenceTable, operation: 'read' | 'write'): RelayError {
  const { name = '', code = '', message = '', $metadata } = error as SdkError
  const answer = code || name
  const attempts = $metadata?.attempts ?? 1
  const verdict = verdicts.find(({ names }) => names.includes(name)) ?? noAnswer
  const { says, fix } = verdict
  return new RelayError(
    verdict.code,
    `fence table ${table} (${place}) ${says}: ${operation}, ${attempts} attempts, ${answer}: ${message}; ${fix}`,
    {
      outcome: operation === 'read' ? 'not-applied' : outcomeOf(attempts, answer, $metadata?.httpStatusCode),
      context: { table, place, operation, attempts, answer },
      cause: error,
    },
  )
}

/** A 4xx answer is a decision of the service before it wrote anything; a 5xx may come after. */
function outcomeOf(attempts: number, answer: string, status = 0): Outcome {
  const refused = (status >= 400 && status < 500) || neverSent.includes(answer)
  return attempts === 1 && refused ? 'not-applied' : 'unknown'
}

export function noTime({ table, place }: FenceTable, operation: 'read' | 'write'): RelayError {
  return new RelayError(
    'FENCE_STORE_UNAVAILABLE',
    `no time left for a ${operation} of fence table ${table} (${place}): its deadline has passed; give the function a longer timeout or smaller windows`,
    { context: { table, place, operation } },
  )
}
