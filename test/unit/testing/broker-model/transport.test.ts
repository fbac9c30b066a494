import { describe, expect, it } from 'vitest'
import { deadlineIn } from '../../../../lib/clock.ts'
import type { TransportError } from '../../../../lib/kafka/transport.ts'
import {
  type Exchange,
  type Fate,
  type Faults,
  ModelTransport,
} from '../../../../lib/testing/broker-model/model-transport.ts'
import { commitWindow, history, writeWindow } from '../../../contract/broker/scene.ts'
import { bench } from './fixture.ts'

/** A fault for the next request of one API; counts that it fired. */
function once(api: string, when: 'before' | 'after', fate: Fate) {
  const state = { fired: 0, armed: false }
  const strike = (exchange: Exchange): Fate => {
    if (!state.armed || exchange.api !== api) return 'pass'
    state.armed = false
    state.fired++
    return fate
  }
  const faults: Faults =
    when === 'before'
      ? { beforeRequest: strike }
      : { afterEffect: (exchange) => strike(exchange) as 'cut' | 'lose' | 'pass' }
  return { state, faults }
}

const failure = (work: Promise<unknown>): Promise<TransportError> =>
  work.then(
    () => {
      throw new Error('it was answered')
    },
    (error: TransportError) => error,
  )

describe('ModelTransport', () => {
  it('loses a request that is cut before it arrives: no effect', async () => {
    const { state, faults } = once('Produce', 'before', 'cut')
    const scene = await bench({}, faults)
    state.armed = true
    const error = await scene.run(failure(scene.client.producePlain(scene.first)))
    expect([error.name, error.reason, error.sent, state.fired]).toEqual(['TransportError', 'closed', true, 1])
    expect(await scene.run(history(scene, scene.first))).toEqual([])
  })

  it('loses an answer that is cut after the effect', async () => {
    const { state, faults } = once('Produce', 'after', 'cut')
    const scene = await bench({}, faults)
    state.armed = true
    const error = await scene.run(failure(scene.client.producePlain(scene.first)))
    expect([error.reason, error.sent, state.fired]).toEqual(['closed', true, 1])
    expect(await scene.run(history(scene, scene.first))).toEqual(['value'])
  })

  it.each(['before', 'after'] as const)(
    'lets the client wait until its deadline for what is lost in silence (%s)',
    async (when) => {
      const { state, faults } = once('Produce', when, 'lose')
      const scene = await bench({}, faults)
      const { run, clock } = scene
      state.armed = true
      const startedMs = clock.now()
      const error = await run(failure(scene.client.producePlain(scene.first)))
      expect([error.reason, error.sent, state.fired]).toEqual(['timeout', true, 1])
      expect(clock.now() - startedMs).toBe(15_000)
      expect(await run(history(scene, scene.first))).toEqual(when === 'before' ? [] : ['value'])
    },
  )

  it('delivers a late copy after the connection is gone: into the next transaction of the older protocol (P3)', async () => {
    const arrival = Promise.withResolvers<void>()
    const { state, faults } = once('TxnOffsetCommit', 'before', { late: arrival.promise })
    const scene = await bench({ transactionVersion: 1 }, faults)
    const { run, client, group, first, id } = scene
    const producer = await run(client.begin(id))
    await run(client.addOffsets(producer, group))
    state.armed = true
    const error = await run(failure(client.commitOffset(1, producer, group, first, 100n)))
    expect([error.sent, state.fired]).toEqual([true, 1])
    expect(await run(client.commitOffset(1, producer, group, first, 100n))).toBe(0)
    await run(client.endAndWait(1, producer, true))

    await run(writeWindow(scene, producer, 200n))
    arrival.resolve()
    await run(client.endAndWait(1, producer, true))
    expect(await run(client.committedOffset(group, first))).toBe(100n)
  })

  it('refuses the same late copy on transaction.version 2', async () => {
    const arrival = Promise.withResolvers<void>()
    const { state, faults } = once('TxnOffsetCommit', 'before', { late: arrival.promise })
    const scene = await bench({}, faults)
    const { run, client, group, first, id } = scene
    const producer = await run(client.begin(id))
    state.armed = true
    await run(failure(client.commitOffset(2, producer, group, first, 100n)))
    const next = await run(commitWindow(scene, producer, 100n))
    await run(writeWindow(scene, next, 200n))
    arrival.resolve()
    await run(client.endAndWait(2, next, true))
    expect([await run(client.committedOffset(group, first)), state.fired]).toEqual([200n, 1])
  })

  it('works on the requests of a connection one after the other, and fails all of them when it breaks', async () => {
    const gate = Promise.withResolvers<Fate>()
    const held: Faults = { beforeRequest: ({ api }) => (api === 'FindCoordinator' ? gate.promise : 'pass') }
    const { run, clock, model } = await bench()
    const transport = new ModelTransport(model, held)
    const [node] = transport.bootstrap
    if (node === undefined) throw new Error('the model has a node')
    const deadline = deadlineIn(clock, 1_000)
    const first = transport.send({
      node,
      api: 'FindCoordinator',
      version: 4,
      body: { coordinatorKeys: ['k'] },
      deadline,
    })
    const second = transport.send({
      node,
      api: 'Metadata',
      version: 12,
      body: { topics: [], includeTopicAuthorizedOperations: false },
      deadline,
    })
    const errors = Promise.all([failure(first), failure(second)])
    const [one, two] = await run(errors)
    expect([one.reason, two.reason]).toEqual(['timeout', 'timeout'])
  })

  it('cannot connect to a node that is down, and loses its connections when one dies', async () => {
    const { run, client, clock, model, first } = await bench()
    const waiting = failure(client.fetch(first, 0n, { maxWaitMs: 5_000 }))
    await clock.advance(100)
    model.stopNode(1)
    expect((await run(waiting)).reason).toBe('closed')
    const transport = new ModelTransport(model)
    const [node] = transport.bootstrap
    if (node === undefined) throw new Error('the model has a node')
    const error = await run(failure(transport.capabilities(node, deadlineIn(clock, 1_000))))
    expect([error.reason, error.sent]).toEqual(['connect', false])
  })

  it('gets no answer from a node that stands still, until it goes on', async () => {
    const { run, client, clock, model, first } = await bench()
    model.pauseNode(1)
    expect((await run(failure(client.listOffset(first, -1n)))).reason).toBe('timeout')
    void clock.sleep(2_000).then(() => model.resumeNode(1))
    expect((await run(client.listOffset(first, -1n))).code).toBe(0)
  })

  it('speaks as the generation of brokers that it models', async () => {
    const older = await bench({ transactionVersion: 1 })
    const newer = await bench()
    const featuresOf = async ({ model, clock }: typeof older) => {
      const transport = new ModelTransport(model)
      const [node] = transport.bootstrap
      if (node === undefined) throw new Error('the model has a node')
      const { apis, features } = await transport.capabilities(node, deadlineIn(clock, 1_000))
      return [features.get('transaction.version'), apis.get(0)?.max, apis.get(26)?.max, apis.get(28)?.max]
    }
    expect(await older.run(featuresOf(older))).toEqual([undefined, 11, 4, 4])
    expect(await newer.run(featuresOf(newer))).toEqual([2, 12, 5, 5])
    const answer = older.client.ask({ to: 'any' }, 'ApiVersions', {})
    expect((await older.run(answer)).finalizedFeatures).toEqual([])
  })

  it('does the same twice', async () => {
    const run = async () => {
      const scene = await bench({ nodes: 3 })
      const producer = await scene.run(commitWindow(scene, await scene.run(scene.client.begin(scene.id)), 100n))
      const { records } = await scene.run(scene.client.fetch(scene.first, 0n))
      return { producer, records, topicId: scene.topicId, nowMs: scene.clock.now() }
    }
    expect(await run()).toEqual(await run())
  })
})
