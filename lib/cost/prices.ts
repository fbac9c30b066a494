/**
 * What AWS asks, in US dollars, in us-east-1, without free tiers and volume discounts. The one place to bring up to date:
 * docs/operations/cost.md is generated from here. AWS's own pages render most prices by script, so where they could not be
 * read the source is a page that quotes them.
 */
export const region = 'us-east-1'
/** When all of these were last looked up. */
export const lookedUpOn = '2026-11-29'

export interface Price {
  readonly usd: number
  readonly per: string
  readonly source: string
  /** What the source says of its own age; null: nothing. */
  readonly asOf: string | null
  /** `aws`: AWS's own words; `quoted`: read in somebody else's; `unverified`: seen in no source, or sources disagree. */
  readonly trust: 'aws' | 'quoted' | 'unverified'
  /** Which part of the bill it belongs to. */
  readonly part: BillPart
}

export const billParts = ['lambda', 'mapping', 'dynamodb', 's3', 'traffic', 'cloudwatch', 'compute'] as const
export type BillPart = (typeof billParts)[number]

const million = 1_000_000
/** From a dump of AWS's price list. */
const lambda = {
  source: 'https://aws.amazon.com/lambda/pricing/',
  asOf: '2025-10-28',
  trust: 'quoted',
  part: 'lambda',
} as const
const dynamoDb = {
  source: 'https://airbyte.com/data-engineering-resources/dynamodb-pricing',
  asOf: '2025-07-21',
  trust: 'quoted',
  part: 'dynamodb',
} as const
const cloudWatch = {
  source: 'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/',
  asOf: '2026-06-13',
  trust: 'quoted',
  part: 'cloudwatch',
} as const
const fargate = {
  source: 'https://www.vantage.sh/blog/fargate-pricing',
  asOf: null,
  trust: 'quoted',
  part: 'compute',
} as const
const flink = {
  source: 'https://aws.amazon.com/managed-service-apache-flink/pricing/',
  asOf: null,
  part: 'compute',
} as const

export const prices = {
  lambdaRequests: { usd: 0.2 / million, per: 'request', ...lambda },
  lambdaGbSeconds: { usd: 0.000_013_333_4, per: 'GB-second (arm64)', ...lambda },
  epuHours: {
    usd: 0.185,
    per: 'event poller unit and hour',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/kafka-scaling-modes.html',
    asOf: null,
    trust: 'aws',
    part: 'mapping',
  },
  dynamoDbWrites: { usd: 0.625 / million, per: 'write of up to 1 KB, on demand', ...dynamoDb },
  dynamoDbReads: { usd: 0.125 / million, per: 'read of up to 4 KB, on demand', ...dynamoDb },
  s3GbMonths: {
    usd: 0.023,
    per: 'GB and month',
    source: 'https://aws.amazon.com/s3/pricing/',
    asOf: null,
    trust: 'unverified',
    part: 's3',
  },
  crossZoneGb: {
    usd: 0.02,
    per: 'GB between two zones (0.01 on each side)',
    source: 'https://awsnegotiations.com/inter-az-data-transfer-cost-reduction',
    asOf: '2026-05',
    trust: 'quoted',
    part: 'traffic',
  },
  logGb: { usd: 0.5, per: 'GB of logs taken in', ...cloudWatch },
  metricMonths: {
    ...cloudWatch,
    usd: 0.3,
    per: 'metric and month',
    source: 'https://signoz.io/guides/cloudwatch-pricing',
    asOf: '2026-02-15',
  },
  alarmMonths: { ...cloudWatch, usd: 0.1, per: 'alarm and month', trust: 'unverified' },
  dashboardMonths: { usd: 3, per: 'dashboard and month', ...cloudWatch },
  fargateVcpuHours: { usd: 0.032_38, per: 'vCPU and hour (arm64)', ...fargate },
  fargateGbHours: { usd: 0.003_56, per: 'GB of memory and hour (arm64)', ...fargate },
  kpuHours: { usd: 0.11, per: 'Kinesis processing unit and hour', trust: 'quoted', ...flink },
  flinkStorageGbMonths: { usd: 0.1, per: 'GB of running storage and month', trust: 'unverified', ...flink },
} as const satisfies Readonly<Record<string, Price>>

export type PriceName = keyof typeof prices
