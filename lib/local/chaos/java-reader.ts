import { open } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../../clock.ts'
import { findJava } from '../java.ts'
import { quickJvmFlags } from '../kafka-config.ts'
import { type KafkaVersion, kafkaClassPath } from '../kafka-jars.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from '../supervised-process.ts'
import { pause } from './fault.ts'
import { numberedIn } from './numbers.ts'
import { type Sighting, Tally } from './tally.ts'

export interface JavaReaderOptions {
  readonly version: KafkaVersion
  readonly brokers: readonly string[]
  readonly topics: readonly string[]
  /** Gets what it reads. */
  readonly file: string
  readonly clock: Clock
}

const lookEveryMs = 500
const stopGraceMs = 5_000

/**
 * Kafka's own console consumer (Java) as a read_committed reader that shares no code with the relay or its verifier. It
 * reads from the beginning, while the relay works and after; what it prints is counted as it comes.
 */
export class JavaReader {
  readonly tally = new Tally()
  readonly #options: JavaReaderOptions
  #process: SupervisedProcess | null = null

  constructor(options: JavaReaderOptions) {
    this.#options = options
  }

  /** @throws RelayError LOCAL_STACK without Java */
  async start(): Promise<void> {
    const { version, file } = this.#options
    const [java, classPath] = [await findJava(), await kafkaClassPath({ version })]
    const jvm = ['-Xmx192m', ...quickJvmFlags, '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', classPath]
    const args = [...jvm, 'org.apache.kafka.tools.consumer.ConsoleConsumer', ...this.#arguments()]
    this.#process = await startSupervised({ command: java, args, logFile: file })
  }

  /** Counts until aborted, and then what has been printed by then. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const lines = new GrowingFile(this.#options.file)
    for (let over = false; !over; ) {
      over = signal.aborted
      for (const line of await lines.more()) {
        const sighting = sightingIn(line)
        if (sighting) this.tally.note(sighting)
      }
      await pause(this.#options.clock, lookEveryMs, signal)
    }
  }

  async stop(): Promise<void> {
    if (this.#process?.running) await stopSupervised(this.#process, stopGraceMs, this.#options.clock)
  }

  #arguments(): readonly string[] {
    const { brokers, topics } = this.#options
    const print = ['partition', 'offset', 'headers', 'value'].flatMap((what) => ['--property', `print.${what}=true`])
    return [
      ...['--bootstrap-server', brokers.join(',')],
      ...['--include', topics.map((topic) => topic.replaceAll('.', '\\.')).join('|')],
      ...['--isolation-level', 'read_committed', '--from-beginning', '--group', 'chaos-reader'],
      ...print,
    ]
  }
}

/** `Partition:1\tOffset:23\tNO_HEADERS\t{"id":...`; null for anything else. A dead letter has headers, an output has none. */
export function sightingIn(line: string): Sighting | null {
  const [, first = '', second = '', headers, value = ''] = /^(\w+:\d+)\t(\w+:\d+)\t([^\t]*)\t(.*)$/.exec(line) ?? []
  const numberOf = (name: string) => Number([first, second].find((field) => field.startsWith(name))?.split(':')[1])
  const [partition, offset] = [numberOf('Partition'), numberOf('Offset')]
  if (Number.isNaN(partition) || Number.isNaN(offset)) return null
  const kind = headers === 'NO_HEADERS' ? 'output' : 'dead letter'
  return { output: `${kind} ${partition}`, offset, record: numberedIn(value) }
}

/** A file that another process appends to, line by line. */
class GrowingFile {
  readonly #path: string
  readonly #decoder = new StringDecoder('utf8')
  #position = 0
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  /** The complete lines that have come since. */
  async more(): Promise<readonly string[]> {
    const file = await open(this.#path, 'r').catch(() => null)
    if (file === null) return []
    try {
      const { size } = await file.stat()
      const bytes = Buffer.alloc(size - this.#position)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#position)
      this.#position += bytesRead
      const lines = (this.#rest + this.#decoder.write(bytes.subarray(0, bytesRead))).split('\n')
      this.#rest = lines.pop() ?? ''
      return lines
    } finally {
      await file.close()
    }
  }
}
