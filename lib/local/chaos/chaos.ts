import { join } from 'node:path'
import { deadlineIn } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { listOffsets } from '../../kafka/offsets.ts'
import { commitGroup } from '../../transaction/ids.ts'
import type { VerifyReport } from '../../verify/report.ts'
import { verifyRelay } from '../../verify/verify-relay.ts'
import { CommittedPosition } from '../committed-position.ts'
import { LogCounter } from '../demo/log-counter.ts'
import { type Fault, pause } from './fault.ts'
import { type FaultEvent, runFaults } from './fault-schedule.ts'
import { JavaReader } from './java-reader.ts'
import { Load } from './load.ts'
import { idPlace } from './numbers.ts'
import { type ChaosResult, resultOf, visibleIn } from './result.ts'
import type { RunningSubject, Subject } from './subject.ts'
import { surroundingFaults } from './surrounding-faults.ts'
import {
  partitions,
  prefix,
  relay,
  type Surroundings,
  type SurroundingsOptions,
  startSurroundings,
} from './surroundings.ts'
import type { TallyResult } from './tally.ts'
import type { Sample } from './timeline.ts'

export interface ChaosOptions extends SurroundingsOptions {
  readonly subject: Subject
  readonly forMs: number
  readonly everyMs: number
  /** Names of the kinds of fault that must each strike something. */
  readonly faults: readonly string[]
  /** Records per second, over all partitions. */
  readonly rate: number
  /** About once a second. */
  progress(progress: ChaosProgress): void
}

export interface ChaosProgress extends Sample {
  /** Since the load began. */
  readonly seconds: number
  /** Places at which Kafka's own consumer has seen an output. */
  readonly seen: number
  readonly invocations: number
  readonly redelivered: number
  /** Kinds at work now. */
  readonly active: readonly string[]
}

export interface ChaosOutcome {
  readonly result: ChaosResult
  readonly report: VerifyReport
  readonly tally: TallyResult
  readonly samples: readonly Sample[]
  readonly events: readonly FaultEvent[]
  readonly logDir: string
}

const sampleEveryMs = 1_000
/** Without any progress for so long, waiting longer makes no sense: the proof says what is missing. */
const drainPatienceMs = 60_000
/** However slow it is. */
const drainMsMax = 240_000
const readerPatienceMs = 30_000
const askMs = 20_000

/**
 * Puts a relay on three brokers under load and faults, then takes the faults away, lets it catch up, stops it, and has two
 * judges look: the verifier at the log, and the count of a consumer of Kafka's own that read along.
 *
 * @throws RelayError LOCAL_STACK when it cannot start; the signal's reason when it is aborted. Nothing is left running.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const around = await startSurroundings(options)
  try {
    options.say(`starting ${options.subject.name}`)
    const subject = await options.subject.start(around)
    try {
      return await outcomeOf(new ChaosRun(options, around, subject))
    } finally {
      await subject.stop()
    }
  } finally {
    await around.stop()
  }
}

async function outcomeOf(run: ChaosRun): Promise<ChaosOutcome> {
  try {
    return await run.outcome()
  } finally {
    await run.stop()
  }
}

class ChaosRun {
  readonly #options: ChaosOptions
  readonly #around: Surroundings
  readonly #subject: RunningSubject
  readonly #faults: readonly Fault[]
  readonly #load: Load
  readonly #reader: JavaReader
  readonly #position: CommittedPosition
  readonly #windows: LogCounter
  readonly #admin: Cluster
  readonly #over = new AbortController()
  readonly #active = new Set<string>()
  readonly #samples: Sample[] = []

  constructor(options: ChaosOptions, around: Surroundings, subject: RunningSubject) {
    this.#options = options
    this.#around = around
    this.#subject = subject
    this.#faults = chosen([...subject.faults, ...surroundingFaults(around)], options.faults)
    const plan = { topic: relay.sourceTopic, partitions, perSecond: options.rate }
    this.#load = new Load(around.connect('chaos-load'), plan, around.random)
    this.#reader = new JavaReader({
      version: options.kafka,
      brokers: around.stack.brokers,
      topics: relay.outputTopics,
      file: join(around.stack.logDir, 'reader.log'),
      clock: around.clock,
    })
    const group = commitGroup(prefix, relay.name)
    const place = { group, topic: relay.sourceTopic, partitions }
    this.#position = new CommittedPosition(around.connect('chaos-position'), place)
    this.#windows = new LogCounter(around.connect('chaos-windows'), relay.outputTopics, 'read_committed', () => {})
    this.#admin = around.connect('chaos-verify')
  }

  async outcome(): Promise<ChaosOutcome> {
    const { signal, say } = this.#options
    const { clock } = this.#around
    await this.#reader.start()
    const beganMs = clock.now()
    const watching = this.#watch(beganMs)
    const events = await this.#underLoad()
    const seconds = (clock.now() - beganMs) / 1_000
    say('the faults are over; letting it catch up')
    await this.#drain(signal)
    const { invocations } = this.#subject.stats()
    await this.#subject.stop()
    say('reading everything back from the log')
    const report = await this.#verify()
    await this.#untilReaderHasSeen(visibleIn(report), signal)
    this.#over.abort()
    await watching
    const tally = this.#reader.tally.judge(this.#load.written())
    const { subject, seed, faults: kinds } = this.#options
    const loadGapMs = this.#load.longestGapMs
    const result = resultOf({
      subject: subject.name,
      seed,
      report,
      tally,
      kinds,
      events,
      invocations,
      loadGapMs,
      seconds,
    })
    return { result, report, tally, samples: this.#samples, events, logDir: this.#around.stack.logDir }
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#reader.stop()
  }

  /** Load all the time, faults now and then. Both are over when it resolves. */
  async #underLoad(): Promise<readonly FaultEvent[]> {
    const { forMs, everyMs, signal, say } = this.#options
    const { clock, random } = this.#around
    const loaded = new AbortController()
    const loading = this.#load.run(AbortSignal.any([signal, loaded.signal]))
    try {
      const events = await runFaults({
        faults: this.#faults,
        everyMs,
        forMs,
        clock,
        random,
        signal,
        began: (name) => this.#active.add(name),
        ended: ({ name, hit }) => {
          this.#active.delete(name)
          say(`${name}: ${hit ?? 'found nothing to hit'}`)
        },
      })
      signal.throwIfAborted()
      return events
    } finally {
      loaded.abort()
      await loading
    }
  }

  async #watch(beganMs: number): Promise<void> {
    const over = this.#over.signal
    const { clock } = this.#around
    const quietly = () => undefined // a reader that fails stands still, and the judges disagree
    const readers = [this.#reader.run(over), this.#windows.run(over).catch(quietly)]
    while (!over.aborted) {
      await this.#position.look().catch(quietly)
      this.#tell(beganMs)
      await pause(clock, sampleEveryMs, over)
    }
    await Promise.all(readers)
  }

  #tell(beganMs: number): void {
    const atMs = this.#around.clock.now()
    const { acknowledged: written } = this.#load
    const sample = { atMs, written, relayed: this.#position.relayed, windows: this.#windows.transactions }
    this.#samples.push(sample)
    this.#options.progress({
      ...sample,
      ...this.#subject.stats(),
      seconds: (atMs - beganMs) / 1_000,
      seen: this.#reader.tally.seen,
      active: [...this.#active],
    })
  }

  async #drain(signal: AbortSignal): Promise<void> {
    const { clock } = this.#around
    const end = await this.#sourceEnd()
    const beganMs = clock.now()
    let best = 0
    for (let movedMs = beganMs; clock.now() - movedMs < drainPatienceMs; ) {
      if (this.#position.relayed >= end || clock.now() - beganMs > drainMsMax) return
      if (this.#position.relayed > best) movedMs = clock.now()
      best = Math.max(best, this.#position.relayed)
      await clock.sleep(sampleEveryMs, signal)
    }
  }

  async #sourceEnd(): Promise<number> {
    const asks = Array.from({ length: partitions }, (_, partition) => ({ topic: relay.sourceTopic, partition }))
    const question = { at: 'latest', isolation: 'read_uncommitted' } as const
    const answers = await listOffsets(this.#admin, asks, question, deadlineIn(this.#around.clock, askMs))
    return answers.reduce((sum, answer) => {
      if (!('offset' in answer)) throw answer.error
      return sum + Number(answer.offset)
    }, 0)
  }

  #verify(): Promise<VerifyReport> {
    const { signal, subject } = this.#options
    const onProgress = () => signal.throwIfAborted()
    const { fences } = this.#around
    const { relayedBy } = subject
    const where = { relay, prefix, cluster: this.#admin, fences, id: idPlace, relayedBy }
    return verifyRelay({ ...where, complete: true, onProgress })
  }

  async #untilReaderHasSeen(outputs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#around
    const { tally } = this.#reader
    let seen = -1
    for (let movedMs = clock.now(); tally.seen < outputs && clock.now() - movedMs < readerPatienceMs; ) {
      if (tally.seen > seen) movedMs = clock.now()
      seen = tally.seen
      await clock.sleep(sampleEveryMs, signal)
    }
    await clock.sleep(sampleEveryMs, signal) // one too many would be seen as well
  }
}

function chosen(faults: readonly Fault[], names: readonly string[]): readonly Fault[] {
  return names.map((name) => {
    const fault = faults.find((one) => one.name === name)
    if (fault) return fault
    const known = faults.map((one) => one.name).join(', ')
    throw new RelayError('LOCAL_STACK', `this relay cannot be struck by '${name}'; it can by ${known}.`)
  })
}
