import { type Deadline, deadlineIn } from '../../lib/clock.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import type { KafkaRecord } from '../../lib/kafka/record.ts'
import type { Bell } from '../../lib/relay/bell.ts'
import { type RunningRelay, rejectionKey, type TransformOptions } from '../../lib/relay/compiled-relay.ts'
import { type InvocationReport, runInvocation } from '../../lib/relay/invocation.ts'
import type { RelayObserver } from '../../lib/relay/observer.ts'
import type { EngineSettings, RelayRuntime } from '../../lib/relay/runtime.ts'
import { sweepRelay } from '../../lib/relay/sweep.ts'
import { ModelTransport } from '../../lib/testing/broker-model/model-transport.ts'
import { openIdempotentProducer } from '../../lib/transaction/idempotent-producer.ts'
import type { Dice } from './dice.ts'
import { SimFenceStore } from './fence-table.ts'
import { SimNetwork } from './network.ts'
import { SimProcess } from './process.ts'
import { kindOf, prefix, simRelay } from './sim-relay.ts'
import type { World } from './world.ts'

/** What wakes a function: a bell, or the schedule of the sweep. */
export type Ring = Bell | { readonly kind: 'sweep' }

/** One container of the function: the real engine, all of whose awaits, requests and times are the simulation's. */
export class SimContainer {
  readonly process: SimProcess
  readonly generation: number
  isBusy = false
  private readonly world: World
  private readonly dice: Dice
  private readonly runtime: RelayRuntime

  private constructor(world: World, name: string, generation: number, running: RunningRelay) {
    const { plan, clock, journal, model, weather, sabotage } = world
    this.world = world
    this.generation = generation
    this.dice = world.dice.fork(name)
    const skewMs = this.dice.between(-plan.functions.skewMsMax, plan.functions.skewMsMax)
    if (skewMs !== 0) journal.fault('clock-skew', name, `${skewMs} ms`)
    const awaits = this.dice.fork('awaits')
    this.process = new SimProcess(name, {
      clock,
      journal,
      weather,
      script: () => world.script,
      dice: awaits,
      plan: plan.functions,
      skewMs,
    })
    const network = new SimNetwork(world, this.dice.fork('network'), this.process)
    const wire = new ModelTransport(model, network)
    this.process.onDeath(() => this.breakConnections(wire))
    const processClock = this.process.clock()
    const transport = this.process.transport(sabotage.transport?.(wire, world) ?? wire)
    const connected = createCluster(transport, processClock, this.dice.fork('cluster').random)
    const cluster = sabotage.cluster?.(connected, world) ?? connected
    const store = new SimFenceStore(world.fences, plan.fences, this.dice.fork('fences'), { clock, journal, weather })
    const { random } = this.dice.fork('engine')
    this.runtime = {
      relay: simRelay(plan),
      running: this.watched(running),
      cluster,
      fences: this.process.fences(sabotage.fences?.(store, world) ?? store),
      openProducer: (deadline) => openIdempotentProducer(cluster, random, deadline),
      settings: settingsOf(world, name, generation),
      clock: processClock,
      random,
      observer: this.observer(),
      warm: new Map(),
      batchBytesMax: new Map(),
    }
  }

  static async start(world: World, name: string, generation: number): Promise<SimContainer> {
    const { clock, plan } = world
    const deadline = deadlineIn(clock, plan.timing.functionTimeoutMs)
    const secret = () => Promise.reject(new Error('no secrets here'))
    const running = await simRelay(plan).start({ secret, clock, deadline })
    return new SimContainer(world, name, generation, running)
  }

  /** Null: it died, or was killed at its timeout. Frozen again when it has answered. */
  async invoke(ring: Ring, requestId: string): Promise<InvocationReport | Error | null> {
    const { clock, journal, plan } = this.world
    this.isBusy = true
    this.process.thaw()
    const over = new AbortController()
    const kill = () => {
      if (this.process.isDead) return
      journal.fault('function-timeout', this.process.name, requestId)
      this.process.die()
    }
    void clock.sleep(plan.timing.functionTimeoutMs, over.signal).then(kill, () => {})
    const deadline = deadlineIn(this.runtime.clock, plan.timing.functionTimeoutMs)
    const run = this.run(ring, requestId, deadline).catch((error: Error) => error)
    const answer = await Promise.race([run, this.process.ended.then(() => null)])
    over.abort()
    this.isBusy = false
    if (answer !== null) this.process.freeze()
    return answer
  }

  private run(ring: Ring, requestId: string, deadline: Deadline): Promise<InvocationReport> {
    const heard = this.world.sabotage.ring?.(ring) ?? ring
    if (heard.kind === 'sweep') return sweepRelay(this.runtime, requestId, deadline)
    return runInvocation(this.runtime, heard, requestId, deadline)
  }

  private breakConnections(wire: ModelTransport): void {
    if (this.dice.chance(0.5)) void wire.close()
  }

  private watched(running: RunningRelay): RunningRelay {
    return {
      transform: async (records, sink, options) => {
        this.world.script.transform?.(this.process)
        this.dieOfPoison(records, options)
        await this.takeTime()
        return running.transform(records, sink, options)
      },
    }
  }

  private dieOfPoison(records: readonly KafkaRecord[], { rejected }: TransformOptions): void {
    const isPoison = ({ topic, partition, offset, value }: KafkaRecord) =>
      kindOf(String(value)) === 'poison' && !rejected.has(rejectionKey(topic, partition, offset))
    if (!records.some(isPoison)) return
    this.world.journal.fault('poison-record', this.process.name)
    this.world.judge.diedOfPoison(this.process.name)
    this.process.die()
  }

  private async takeTime(): Promise<void> {
    const { plan, weather, journal } = this.world
    const { transformMsMax, slowTransform, slowTransformMsMax } = plan.functions
    const isSlow = weather.isRough && this.dice.chance(slowTransform)
    const ms = this.dice.between(0, isSlow ? slowTransformMsMax : transformMsMax)
    if (isSlow) journal.fault('slow-transform', this.process.name, `${ms} ms`)
    await this.runtime.clock.sleep(ms)
  }

  private observer(): RelayObserver {
    const { journal } = this.world
    const { name } = this.process
    return {
      laneOpened: ({ lane, token, positions, warm }) =>
        journal.note(name, `${lane} open token ${token} at ${JSON.stringify(positions)}${warm ? ' warm' : ''}`),
      windowCommitted: ({ lane, until }) => journal.note(name, `${lane} committed ${JSON.stringify(until)}`),
      sessionReopened: ({ lane, error }) => journal.note(name, `${lane} reopens: ${error.message}`),
      stoodDown: ({ lane, reason }) => journal.note(name, `${lane} stands down: ${reason}`),
      laneStopped: ({ lane, error }) => journal.note(name, `${lane} stops: ${error.message}`),
      laneFailed: ({ lane, error }) => journal.note(name, `${lane} fails: ${error.message}`),
      laneReleased: ({ lane, clean }) => journal.note(name, `${lane} released${clean ? ' clean' : ''}`),
      alarm: ({ lane, code, message }) => journal.note(name, `${lane} alarm ${code}: ${message}`),
    }
  }
}

function settingsOf({ plan }: World, container: string, generation: number): EngineSettings {
  return { prefix, ...plan.timing, generation, container, rack: '' }
}
