import { InvalidArgumentError, Option } from 'commander'
import { parseAddress } from '../kafka/connection-config.ts'
import { kafkaVersions } from '../local/kafka-jars.ts'
import { durationMs } from '../units.ts'

/** Options that several commands share, so that they mean the same everywhere. */
export const kafkaOption = (): Option =>
  new Option('--kafka <version>', 'Kafka version of the local broker').choices(kafkaVersions).default(kafkaVersions[0])

export const brokersOption = (): Option =>
  new Option('--brokers <host:port,...>', 'use a cluster that exists').argParser(parseBrokers)

export const jsonOption = (): Option => new Option('--json', 'print the result as one line of JSON, the last of stdout')

export const dirOption = (): Option =>
  new Option('--dir <directory>', 'where data and logs are kept').default('.fencepost')

export const portOption = (name: string, what: string): Option =>
  new Option(`--${name} <port>`, `port of ${what} (default: a free one)`).argParser(parsePort)

function parseBrokers(text: string): readonly string[] {
  const brokers = text.split(',').map((address) => address.trim())
  for (const address of brokers) {
    try {
      parseAddress(address)
    } catch {
      throw new InvalidArgumentError(`"${address}" is not host:port with a port from 1 to 65535.`)
    }
  }
  return brokers
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new InvalidArgumentError(`"${text}" is not a port from 1 to 65535.`)
}

/** Digits may be grouped: 300,000 or 300_000. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text.replaceAll(/[,_]/g, ''))
    if (text !== '' && Number.isInteger(number) && number >= min && number <= max) return number
    const [least, most] = [min, max].map((bound) => bound.toLocaleString('en'))
    throw new InvalidArgumentError(`"${text}" is not a whole number from ${least} to ${most}.`)
  }
}

/** Milliseconds of `500ms`, `90s`, `30m`, `1h` or `7d`. Bounds are written the same way. */
export function duration(least: string, most: string): (text: string) => number {
  return (text) => {
    const ms = durationMs(text)
    if (ms === null) throw new InvalidArgumentError(`"${text}" is not a duration such as 500ms, 90s, 30m, 1h or 7d.`)
    if (ms >= Number(durationMs(least)) && ms <= Number(durationMs(most))) return ms
    throw new InvalidArgumentError(`"${text}" is not between ${least} and ${most}.`)
  }
}
