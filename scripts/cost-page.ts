/** docs/operations/cost.md, from the same code as `fencepost cost`, so that the two never say different things. */
import { dollars, latency, partsOf, wayLabels } from '../lib/cli/cost-text.ts'
import { type Estimate, estimate, type Offer } from '../lib/cost/estimate.ts'
import { assumptions, figures } from '../lib/cost/figures.ts'
import { type Load, loadDefaults } from '../lib/cost/load.ts'
import { lookedUpOn, type Price, prices, region } from '../lib/cost/prices.ts'
import { hoursPerMonth } from '../lib/cost/work.ts'

interface Example {
  readonly title: string
  readonly load: Load
}

const examples: readonly Example[] = [
  {
    title: 'A quiet topic: a record every two seconds, wanted within a minute',
    load: { ...loadDefaults, recordsPerSecond: 0.5, partitions: 3, latencyMs: 60_000 },
  },
  {
    title: 'A service: 50 records a second, wanted within 5 seconds',
    load: { ...loadDefaults, recordsPerSecond: 50 },
  },
  {
    title: 'A stream: 5,000 records a second of 300 bytes, wanted within a second',
    load: { ...loadDefaults, recordsPerSecond: 5_000, bytesPerRecord: 300, partitions: 24, latencyMs: 1_000 },
  },
]

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(header), row(header.map(() => '---')), ...rows.map(row)].join('\n')

const columns = ['', '$ a month', 'p99', 'Lambda', 'ESM', 'DynamoDB', 'traffic', 'other']
const marked = (text: string, isMarked: boolean): string => (isMarked ? `**${text}**` : text)

function exampleSection({ title, load }: Example): string {
  const found = estimate(load)
  const line = (offer: Offer) => [label(offer, found), dollars(offer.usd), latency(offer), ...partsOf(offer)]
  return `### ${title}\n\n${table(columns, found.offers.map(line))}`
}

const label = ({ name }: Offer, { cheapest, deployed }: Estimate): string =>
  `${marked(wayLabels[name], name === cheapest)}${name === deployed ? ' (deployed)' : ''}`

const trust = { aws: 'AWS', quoted: 'quoted', unverified: '**not verified**' } as const
const priceRow = ({ usd, per, asOf, source, trust: by }: Price): readonly string[] => [
  usd < 0.001 ? `${Number((usd * 1_000_000).toPrecision(6))} for a million` : String(usd),
  per,
  asOf ?? 'not dated',
  `[${trust[by]}](${source})`,
]

const bound = (value: number): string => value.toLocaleString('en')

export const costPage = (): string => `# What a month costs

<!-- Made by npm run generate:cost; edit scripts/cost-page.ts. -->

\`fencepost cost --records-per-second 50\` estimates it for your load, every way to relay it side by side; \`--help\` has the
options, \`--json\` every item of every bill. It asks nobody and needs no account. An estimate: a steady load, prices of
${region} without free tiers and discounts, a month of ${hoursPerMonth} hours. The cluster, NAT and PrivateLink are not counted: an
on-demand event source mapping (ESM) needs one of the last two, a provisioned one neither.

## Three typical loads

Bold: the cheapest of Fencepost's own ways that keeps up and is through in time (a fifth more is let pass: a batching window
of 5 s is what a wish for 5 s means). *never*: it does not keep up. Traffic between availability zones is the same bill for whatever
reads and writes Kafka, except that an event source mapping reads everything once more.

${examples.map(exampleSection).join('\n\n')}

## How it is estimated

| | |
|---|---|
| CPU of a record | ${figures.cpuMicrosPerRecord} µs of a core at ${figures.recordBytes} bytes, ${figures.cpuMicrosPerByte} µs for each further byte; half of it is reading, half is writing and grows with the output factor; and your transform (\`--transform-us\`, ${loadDefaults.transformMicros} unless you say so) |
| CPU of a window | ${figures.windowCpuMs} ms of a core, beside its records ([sizing.md](sizing.md)) |
| a function's share of a core | memory / ${bound(assumptions.mbPerCore)} MB, at most one |
| a bell with work | ${figures.bellMs} ms + ${assumptions.networkMsPerBell} ms + ${assumptions.networkMsPerWindow} ms of network, and the CPU of its records; each further window of a lane ${figures.windowMs} + ${assumptions.networkMsPerWindow} ms; ${figures.idleBellMs} ms when there is nothing |
| schedule | one pull every \`latency\`, a minute at least, relays all lanes |
| on-demand ESM | a poller for each ${bound(assumptions.pollerBytesPerSecond / 1_000_000)} MB/s; a batch begins with its first record and rings after the batching window, or when it holds 10,000 records or ${bound(assumptions.eventBytesMax / 1_000_000)} MB |
| provisioned ESM | the same without a window, up to ${assumptions.invocationsPerPoller} batches at a time for each poller; a unit (EPU) for each ${assumptions.pollersPerUnit} pollers or ${bound(assumptions.bytesPerSecondPerUnit / 1_000_000)} MB/s |
| lingering pull | one function, always there |
| worker | Fargate, arm64, the smallest that is busy at most ${assumptions.busyMax * 100} %; no reserve |
| DynamoDB | two writes for each lane that a bell opens; a lingering pull and a worker hold a lane from its first record to the end of the minute, or for 15 s, and renew its lease every 2 s |
| traffic | bytes in (twice for an ESM, which reads them too) and out, two thirds of them between three zones |
| CloudWatch | ${bound(assumptions.logBytesPerInvocation)} bytes of logs for each invocation, metrics, alarms, a dashboard |
| sweep | every 15 minutes, in each deployment |
| Managed Flink | ${assumptions.flinkCpuFactor} times our CPU, units busy at most ${assumptions.busyMax * 100} %, one more for orchestration, ${assumptions.flinkGbPerUnit} GB of running storage for each |
| p99 | schedule: nearly its interval and the run; ESM: its window, ${assumptions.mappingMs} ms (provisioned: ${assumptions.provisionedMappingMs}) for the mapping and ${figures.bellP99Ms} ms for the bell; lingering pull: the gap from one function to the next; worker: \`commitEvery\` of 1 s and a window; Managed Flink: its checkpoint interval of a minute, which can be set lower. Containers warm |

**Measured** on two shared cores under heavy load: CPU of a record and of a window, times of bells and windows ([bench/results](../../bench/results)),
and the CPU of further bytes by one run of the same benchmark with 1,800 bytes a record. **Assumed**, since there was no account to measure
in: all network times, what a mapping adds, how a mapping forms batches beyond what AWS documents, bytes of logs; and that half of a record's
CPU is reading. \`lib/cost/figures.ts\` has both apart. Measure your own before you build on a difference of less than a half.

## Prices

US dollars, ${region}, looked up on ${lookedUpOn}. *Quoted*: read where somebody quotes AWS, whose own pages could not be read.
Not verified: in no source that was read, or sources disagree. \`lib/cost/prices.ts\` is the one place to change them.

${table(['$', 'per', 'as of', 'source'], Object.values(prices).map(priceRow))}

Lambda's second price tier, DynamoDB's provisioned capacity, Savings Plans and Fargate Spot make it cheaper; other regions
dearer.
`
