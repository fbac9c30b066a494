import { InvalidArgumentError, Option } from 'commander'
import { parseAddress } from '../kafka/connection-config.ts'
import { kafkaVersions } from '../local/kafka-jars.ts'

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
