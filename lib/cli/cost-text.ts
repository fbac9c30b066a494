import type { Estimate, Offer } from '../cost/estimate.ts'
import { region } from '../cost/prices.ts'
import type { WayName } from '../cost/ways.ts'
import { hoursPerMonth, secondsPerMonth } from '../cost/work.ts'
import { tableLines } from './table.ts'
import { bold, type Terminal } from './terminal.ts'
import { columnsOf, wrapped } from './verify-text.ts'

export const wayLabels: Readonly<Record<WayName, string>> = {
  pull: 'schedule',
  events: 'on-demand ESM',
  linger: 'lingering pull',
  provisioned: 'provisioned ESM',
  worker: 'worker',
  flink: 'Managed Flink',
}

/** What the table needs with all its columns. */
const columnsOfParts = 70

/** Side by side, the cheapest that will do marked; in a narrow window without the parts of each bill. */
export function costLines(estimate: Estimate, terminal: Terminal): readonly string[] {
  const columns = columnsOf(terminal)
  const withParts = columns >= columnsOfParts
  const header = ['', '$/month', 'p99', ...(withParts ? ['Lambda', 'ESM', 'DynamoDB', 'traffic', 'other'] : [])]
  const rows = estimate.offers.map((offer) => [
    `${offer.name === estimate.cheapest ? '→' : ' '} ${wayLabels[offer.name]}`,
    dollars(offer.usd),
    latency(offer),
    ...(withParts ? partsOf(offer) : []),
  ])
  return [
    ...wrapped(loadSentence(estimate), columns),
    '',
    ...tableLines(header, rows),
    '',
    ...verdict(estimate).flatMap((line) => wrapped(line, columns).map((part) => bold(terminal, part))),
    ...notes(estimate).flatMap((line) => wrapped(line, columns)),
  ]
}

/** Cents only where they count. */
export const dollars = (usd: number): string =>
  usd.toLocaleString('en', { minimumFractionDigits: usd < 100 ? 2 : 0, maximumFractionDigits: usd < 100 ? 2 : 0 })

export const latency = ({ p99Ms, keepsUp }: Offer): string => (keepsUp ? duration(p99Ms) : 'never')

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms / 10) * 10} ms`
  const seconds = ms / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  return seconds < 600 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

export function partsOf({ parts }: Offer): readonly string[] {
  const { lambda, mapping, dynamodb, traffic, s3, cloudwatch, compute } = parts
  return [lambda, mapping, dynamodb, traffic, s3 + cloudwatch + compute].map(dollars)
}

const threeDigits = { maximumSignificantDigits: 3 } as const

function volume(bytes: number): string {
  const [unit, size] = bytes < 1e12 ? (['GB', 1e9] as const) : (['TB', 1e12] as const)
  return `${(bytes / size).toLocaleString('en', threeDigits)} ${unit}`
}

function loadSentence({ load }: Estimate): string {
  const { recordsPerSecond, bytesPerRecord, partitions, outputFactor, memoryMb, latencyMs } = load
  const count = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 3 })
  const records = new Intl.NumberFormat('en', { ...threeDigits, notation: 'compact', compactDisplay: 'long' })
  return (
    `${count(recordsPerSecond)} records/s of ${count(bytesPerRecord)} bytes in ${count(partitions)} partitions, output factor ` +
    `${count(outputFactor)}: ${records.format(recordsPerSecond * secondsPerMonth)} records, ${volume(recordsPerSecond * bytesPerRecord * secondsPerMonth)} a month ` +
    `(${hoursPerMonth} h). Functions of ${count(memoryMb)} MB. Wanted within ${duration(latencyMs)}.`
  )
}

function verdict({ cheapest, deployed, offers }: Estimate): readonly string[] {
  const priced = (name: WayName | null): string => {
    const offer = offers.find((one) => one.name === name)
    return offer ? `${wayLabels[offer.name]}, $${dollars(offer.usd)}` : ''
  }
  if (cheapest === null) return ['None keeps up within the latency: allow more of it, or give more --memory.']
  const says = `Cheapest that keeps up within the latency: ${priced(cheapest)}.`
  if (deployed === cheapest) return [`${says} It is what a deployment sets up for this latency.`]
  return [`${says} A deployment sets up ${priced(deployed)}.`]
}

function notes({ offers }: Estimate): readonly string[] {
  const behind = offers.filter(({ keepsUp }) => !keepsUp).map(({ name }) => wayLabels[name])
  return [
    ...(behind.length > 0 ? [`never: ${behind.join(', ')}; one function, or one lane, would be busy above 60 %.`] : []),
    `Prices of ${region} without free tiers. Not counted: the cluster, NAT or PrivateLink (an on-demand ESM needs one of them).`,
    'docs/operations/cost.md: the formula, what is measured and what is assumed.',
  ]
}
