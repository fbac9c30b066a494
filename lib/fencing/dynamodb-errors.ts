import { type Outcome, RelayError } from '../errors.ts'

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

const throttled = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'ThrottledException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'TooManyRequestsException',
])
const missing = new Set(['ResourceNotFoundException', 'TableNotFoundException'])
const forbidden = new Set([
  'AccessDeniedException',
  'AccessDenied',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'IncompleteSignatureException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
])
/** No byte of the request left this machine. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'CredentialsProviderError'])

/**
 * What a failed request to DynamoDB means. The SDK's attempts count: what the last one was told says nothing of an
 * earlier one that was never answered, so a write is `not-applied` only if its single transmission was refused or never left.
 */
export function fenceStoreError(error: unknown, { table, place }: FenceTable, operation: 'read' | 'write'): RelayError {
  const { name = '', code = '', message = '', $metadata } = error as SdkError
  const attempts = $metadata?.attempts ?? 1
  const refused = isRefusal($metadata?.httpStatusCode) || neverSent.has(code) || neverSent.has(name)
  const outcome: Outcome = operation === 'read' || (attempts === 1 && refused) ? 'not-applied' : 'unknown'
  const details = { outcome, cause: error, context: { table, place, operation, attempts, answer: code || name } }
  const where = `fence table ${table} (${place})`
  const said = `${code || name}: ${message}`
  if (throttled.has(name)) {
    return new RelayError(
      'FENCE_STORE_THROTTLED',
      `${where} throttled a ${operation} in ${attempts} attempts, ${said}; make the table on-demand or raise its capacity`,
      details,
    )
  }
  if (missing.has(name)) {
    return new RelayError(
      'FENCE_TABLE_MISSING',
      `${where} does not exist; deploy it, or correct the table name or region`,
      details,
    )
  }
  if (forbidden.has(name)) {
    return new RelayError(
      'FENCE_TABLE_MISSING',
      `${where} may not be used, ${said}; allow dynamodb:GetItem, UpdateItem and Scan on it to the function's role`,
      details,
    )
  }
  if (name === 'ValidationException') {
    return new RelayError(
      'FENCE_TABLE_MISSING',
      `${where} cannot be used, ${said}; correct the table name, or make a table whose only key is id (string)`,
      details,
    )
  }
  return new RelayError(
    'FENCE_STORE_UNAVAILABLE',
    `${where} gave no answer to a ${operation} in ${attempts} attempts, ${said}; check the network path to DynamoDB (a VPC needs a gateway endpoint)`,
    details,
  )
}

/** A 4xx answer is a decision of the service before it wrote anything; a 5xx may come after. */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500
}

export function noTime({ table, place }: FenceTable, operation: 'read' | 'write'): RelayError {
  return new RelayError(
    'FENCE_STORE_UNAVAILABLE',
    `no time left for a ${operation} of fence table ${table} (${place}): its deadline has passed; give the function a longer timeout or smaller windows`,
    { context: { table, place, operation } },
  )
}
