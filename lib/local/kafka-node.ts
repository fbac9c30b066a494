import { readFile, stat } from 'node:fs/promises'
import { type Clock, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { lastLines } from './command.ts'
import type { KafkaNodePlan } from './kafka-config.ts'
import { brokersSeenAt } from './kafka-probe.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from './supervised-process.ts'

/** A broker hands its leaderships over before it exits; it has this long. */
const stopGraceMs = 15_000
const startTimeoutMs = 60_000
const probeEveryMs = 50

export interface KafkaNode {
  readonly id: number
  readonly port: number
  /** Where its proxy passes connections on to; null without one. */
  readonly detourPort: number | null
  /** Changes with each restart. */
  readonly pid: number
  readonly logFile: string
  /** SIGKILL and SIGTERM resolve when the broker is gone; SIGSTOP, SIGCONT when delivered. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops the broker if it runs, starts it again on the same data and port, and waits until it serves. */
  restart(): Promise<void>
}

/** One broker process over its life: starts, deaths and restarts on the same data and ports. */
export class LocalKafkaNode implements KafkaNode {
  readonly id: number
  readonly port: number
  readonly detourPort: number | null
  readonly logFile: string
  readonly #command: string
  readonly #args: readonly string[]
  readonly #clock: Clock
  #process: SupervisedProcess | undefined
  /** The log keeps earlier starts; a failure is explained by this one. */
  #logFrom = 0

  constructor(plan: KafkaNodePlan, logFile: string, command: string, args: readonly string[], clock: Clock) {
    this.id = plan.id
    this.port = plan.port
    this.detourPort = plan.detour?.port ?? null
    this.logFile = logFile
    this.#command = command
    this.#args = args
    this.#clock = clock
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  async launch(): Promise<void> {
    this.#logFrom = (await stat(this.logFile).catch(() => ({ size: 0 }))).size
    this.#process = await startSupervised({ command: this.#command, args: this.#args, logFile: this.logFile })
  }

  /**
   * Resolves when this broker answers metadata requests and lists all of `ids` as live.
   * @throws RelayError LOCAL_STACK with the end of the broker's log.
   */
  async untilServing(ids: readonly number[], signal?: AbortSignal): Promise<void> {
    const deadline = deadlineIn(this.#clock, startTimeoutMs)
    while (deadline.remainingMs() > 0) {
      signal?.throwIfAborted()
      if (!this.#process?.running) throw await this.#failure('exited while starting')
      const seen = await brokersSeenAt(this.port)
      if (ids.every((id) => seen.includes(id))) return
      await this.#clock.sleep(probeEveryMs, signal)
    }
    throw await this.#failure(`does not serve after ${startTimeoutMs / 1000} s`)
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#process?.signal(signal)
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await this.#process?.exited()
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.launch()
    await this.untilServing([this.id])
  }

  async stop(): Promise<void> {
    if (this.#process?.running) await stopSupervised(this.#process, stopGraceMs, this.#clock)
  }

  async #failure(what: string): Promise<RelayError> {
    const log = (await readFile(this.logFile)).subarray(this.#logFrom).toString('utf8')
    const portTaken = /Address already in use/.test(lastLines(log, 60))
    const fix = portTaken
      ? `Port ${this.port} or its controller's port is taken: stop what listens there or choose another port.`
      : `The whole log is in ${this.logFile}.`
    return new RelayError('LOCAL_STACK', `Kafka node ${this.id} ${what}. ${fix} Its last words:\n${lastWords(log)}`, {
      context: { portTaken, port: this.port, logFile: this.logFile },
    })
  }
}

/** What a broker says while it shuts down, all at INFO, hides why it does. */
function lastWords(log: string): string {
  const lines = log.split('\n')
  const telling = lines.filter((line) => !line.includes('] INFO '))
  return lastLines((telling.length > 0 ? telling : lines).join('\n'), 8)
}
