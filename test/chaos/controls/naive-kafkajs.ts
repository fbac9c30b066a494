import { join } from 'node:path'
import type { Control } from '../../../lib/cli/chaos.ts'
import type { Fault } from '../../../lib/local/chaos/fault.ts'
import { type Network, networkFault } from '../../../lib/local/chaos/network.ts'
import type { RunningSubject, Subject } from '../../../lib/local/chaos/subject.ts'
import { prefix, relay, type Surroundings } from '../../../lib/local/chaos/surroundings.ts'
import { type SupervisedProcess, startSupervised, stopSupervised } from '../../../lib/local/supervised-process.ts'
import { commitGroup, transactionalId } from '../../../lib/transaction/ids.ts'

const stopGraceMs = 5_000

/** The relay by kafkajs's documentation, started again whenever it ends, as any orchestrator would. */
const subject: Subject = {
  name: 'naive-kafkajs',
  relayedBy: 'another',
  async start(around) {
    const relayProcess = new Restarted(around)
    await relayProcess.begin()
    return relayProcess
  },
}

/** It commits a message a transaction, so that it is given few. */
export const naiveKafkajs: Control = { subject, faults: ['lost-append'], rate: 2 }

/** kafkajs sends six times within about 10 s. */
const span = { lastsMs: 14_000, patienceMs: 20_000 }

/**
 * Batches are appended, the answers lost for longer than kafkajs tries again. It aborts, reuses the sequence number in its
 * next transaction, and the broker takes that record for a copy of the one before: lost, every promise resolved.
 */
const lostAppend = (network: Network): Fault =>
  networkFault(network, {
    name: 'lost-append',
    said: 'appended, their answers lost',
    ...span,
    begin: () => ({
      proxies: network.proxies,
      fateOf: ({ api }) => (api === 'Produce' ? 'lose-answer' : 'pass'),
    }),
  })

class Restarted implements RunningSubject {
  readonly faults: readonly Fault[]
  readonly #around: Surroundings
  #process: SupervisedProcess | null = null
  #starts = 0
  #stopping = false

  constructor(around: Surroundings) {
    this.#around = around
    this.faults = [lostAppend(around)]
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
