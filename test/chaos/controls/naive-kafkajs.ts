import { join } from 'node:path'
import type { Control } from '../../../lib/cli/chaos.ts'
import type { RunningSubject, Subject } from '../../../lib/local/chaos/subject.ts'
import { prefix, relay, type Surroundings } from '../../../lib/local/chaos/surroundings.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from '../../../lib/local/supervised-process.ts'
import { commitGroup, transactionalId } from '../../../lib/transaction/ids.ts'

const stopGraceMs = 5_000

/** The relay by kafkajs's documentation, started again whenever it ends, as any orchestrator would. */
const subject: Subject = {
  name: 'naive-kafkajs',
  async start(around) {
    const relayProcess = new Restarted(around)
    await relayProcess.begin()
    return relayProcess
  },
}

/**
 * It commits a message a transaction, so that it is given few. With answers to Produce lost for longer than kafkajs tries
 * again, it aborts, reuses the sequence number in its next transaction, and the broker takes the record for a copy.
 */
export const naiveKafkajs: Control = { subject, faults: ['lost-reply'], rate: 4 }

class Restarted implements RunningSubject {
  readonly faults = []
  readonly #around: Surroundings
  #process: SupervisedProcess | null = null
  #starts = 0
  #stopping = false

  constructor(around: Surroundings) {
    this.#around = around
  }

  async begin(): Promise<void> {
    if (this.#stopping) return
    this.#starts++
    this.#process = await startSupervised({
      command: process.execPath,
      args: [join(import.meta.dirname, 'naive-kafkajs-relay.ts')],
      env: { ...process.env, ...this.#environment() },
      logFile: join(this.#around.stack.logDir, 'naive-kafkajs.log'),
    })
    this.#process.exited().then(() => this.begin())
  }

  stats() {
    return { invocations: this.#starts, redelivered: 0 }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#process) await stopSupervised(this.#process, stopGraceMs)
  }

  #environment(): Record<string, string> {
    return {
      NAIVE_BROKERS: this.#around.proxiedBrokers.join(','),
      NAIVE_SOURCE: relay.sourceTopic,
      NAIVE_OUTPUT: relay.outputTopics[0] ?? '',
      NAIVE_GROUP: commitGroup(prefix, relay.name),
      NAIVE_ID: transactionalId(prefix, relay.name, relay.sourceTopic, 0),
    }
  }
}
