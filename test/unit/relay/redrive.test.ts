import { describe, expect, test } from 'vitest'
import type { Header } from '../../../lib/kafka/record.ts'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { drainRelay } from '../../../lib/relay/operator/drain-relay.ts'
import { lettersWaiting } from '../../../lib/relay/redrive/letters-waiting.ts'
import { type LeftLetter, redriveRelay, redriveRuntime } from '../../../lib/relay/redrive/redrive.ts'
import { committedRecords } from '../../../lib/testing/output-log.ts'
import { type ModelProcess, ModelWorld, type ModelWorldOptions, type StopPoint } from '../../helpers/model-world.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

/** Records that begin with `bad` are dead-lettered, until the relay is mended. */
class DeadLetterWorld extends ModelWorld {
  isMended = false

  constructor(protocol: 1 | 2, topics: NonNullable<ModelWorldOptions['topics']> = {}) {
    super(protocol, {
      topics,
      before: (value) => {
        if (value.startsWith('bad') && !this.isMended) throw new Error('not yet')
      },
    })
  }

  async ring(): Promise<void> {
    const { runtime } = await this.process()
    expect(onlyLane(await this.run(runInvocation(runtime, pull, 'request', this.within(20_000))))).toMatchObject({
      kind: 'done',
    })
  }

  async redrive({ runtime }: ModelProcess, to: string | null = null) {
    const left: LeftLetter[] = []
    const onLeft = (letter: LeftLetter) => void left.push(letter)
    const redriving = await redriveRuntime(runtime, { to, onLeft }, this.within(20_000))
    const report = await drainRelay(redriving, 20_000)
    return { ...report, left }
  }

  async waiting(): Promise<number> {
    const { runtime } = await this.process()
    const redriving = await this.run(redriveRuntime(runtime, { to: null, onLeft: () => {} }, this.within(20_000)))
    return (await this.run(lettersWaiting(redriving, 'copy'))).letters
  }

  source = () => committedRecords(this.model, 'source')
  values = () => this.source().map(({ value }) => String(value))
}

const header = (key: string, value: string | null): Header => ({
  key,
  value: value === null ? null : Buffer.from(value),
})

describe.each([2, 1] as const)('redrive, transaction protocol %i', (protocol) => {
  test('sends each dead letter back once, with key, value, headers and time of the original', async () => {
    const world = new DeadLetterWorld(protocol)
    const headers = [header('a', '1'), header('a', null), header('fencepost.relay', 'an older death'), header('', '')]
    world.write({ bytes: 'bad', key: Buffer.from('k'), headers, timestamp: world.clock.now() - 1_000 })
    world.write({ bytes: 'good' })
    await world.ring()
    world.isMended = true
    expect(await world.run(world.redrive(await world.process()))).toMatchObject({ ok: true, left: [] })
    const [original, , again] = world.source()
    expect(world.values()).toEqual(['bad', 'good', 'bad'])
    expect(again).toMatchObject({ key: original?.key, headers, timestampMs: original?.timestampMs })
    await world.ring()
    expect(world.delivered()).toEqual(['good', 'bad'])
    expect(await world.run(world.redrive(await world.process()))).toMatchObject({ ok: true })
    expect(world.values()).toHaveLength(3)
  })

  test('killed at any step and run again: every letter is sent once', async () => {
    const lay = async () => {
      const world = new DeadLetterWorld(protocol)
      for (const value of ['bad1', 'good', 'bad2', 'bad3']) world.write({ bytes: value })
      await world.ring()
      return world
    }
    const whole = await lay()
    const undisturbed = await whole.process()
    await whole.run(whole.redrive(undisturbed))
    expect(undisturbed.steps).toBeGreaterThan(12)
    for (let step = 1; step <= undisturbed.steps; step++) {
      for (const when of ['before', 'after'] as const) {
        const stop: StopPoint = { step, when }
        const world = await lay()
        const dying = await world.process(stop)
        await world.run(Promise.race([world.redrive(dying), dying.reached]))
        await world.outliveLeases()
        expect(await world.run(world.redrive(await world.process())), JSON.stringify(stop)).toMatchObject({ ok: true })
        expect(world.values().slice(4), JSON.stringify(stop)).toEqual(['bad1', 'bad2', 'bad3'])
      }
    }
  })
})

describe('redrive', () => {
  test('counts the letters that wait, and none after they were sent', async () => {
    const world = new DeadLetterWorld(2)
    for (const value of ['bad1', 'good', 'bad2']) world.write({ bytes: value })
    await world.ring()
    expect(await world.waiting()).toBe(2)
    await world.run(world.redrive(await world.process()))
    expect(await world.waiting()).toBe(0)
  })

  test('a record that fails again becomes a new letter, for the next time', async () => {
    const world = new DeadLetterWorld(2)
    world.write({ bytes: 'bad' })
    await world.ring()
    await world.run(world.redrive(await world.process()))
    await world.ring()
    expect(await world.waiting()).toBe(1)
  })

  test('a letter that was cut is read from the source again', async () => {
    const world = new DeadLetterWorld(2, { dead: { 'max.message.bytes': '2000' } })
    const large = `bad${'x'.repeat(50_000)}`
    world.write({ bytes: large, key: Buffer.from('k'), headers: [header('h', 'v')] })
    await world.ring()
    expect(await world.run(world.redrive(await world.process()))).toMatchObject({ ok: true, left: [] })
    expect(world.values()).toEqual([large, large])
    expect(world.source()[1]).toMatchObject({ key: Buffer.from('k'), headers: [header('h', 'v')] })
  })

  test('a letter that was cut and whose original is gone stays, and is named', async () => {
    const world = new DeadLetterWorld(2, { dead: { 'max.message.bytes': '2000' } })
    world.write({ bytes: `bad${'x'.repeat(50_000)}` })
    world.write({ bytes: 'bad, small' })
    await world.ring()
    world.model.topics.partition('source', 0)?.log.deleteBefore(1n)
    const { left } = await world.run(world.redrive(await world.process()))
    expect(left).toEqual([{ partition: 0, offset: 0n, why: 'it was cut, and the source has not the record any more' }])
    expect(world.values()).toEqual(['bad, small', 'bad, small'])
  })

  test('a record that its target refuses stays, and is named', async () => {
    const world = new DeadLetterWorld(2, { repairs: { 'max.message.bytes': '500' } })
    world.write({ bytes: `bad${'x'.repeat(2_000)}` })
    world.write({ bytes: 'bad, small' })
    await world.ring()
    const { left } = await world.run(world.redrive(await world.process(), 'repairs'))
    expect(left).toMatchObject([
      { partition: 0, offset: 0n, why: expect.stringMatching(/RECORD_TOO_LARGE.*repairs accepts 500/) },
    ])
    expect(committedRecords(world.model, 'repairs').map(({ value }) => String(value))).toEqual(['bad, small'])
  })

  test('letters of another relay in the same topic are left alone', async () => {
    const world = new DeadLetterWorld(2)
    world.write({ bytes: 'bad' })
    await world.ring()
    const { runtime } = await world.process()
    const other = { ...runtime, relay: { ...runtime.relay, name: 'other' } }
    const redriving = await world.run(redriveRuntime(other, { to: null, onLeft: () => {} }, world.within(20_000)))
    expect(await world.run(drainRelay(redriving, 20_000))).toMatchObject({ ok: true })
    expect(world.values()).toEqual(['bad'])
  })

  test('a record whose own time would have it deleted at once is dated now', async () => {
    const world = new DeadLetterWorld(2, { source: { 'retention.ms': '3600000' } })
    const old = world.clock.now() - 50 * 60_000
    world.write({ bytes: 'bad', timestamp: old })
    await world.ring()
    const beganMs = world.clock.now()
    await world.run(world.redrive(await world.process()))
    const [original, again] = world.source().map(({ timestampMs }) => timestampMs)
    expect(original).toBe(old)
    expect(again).toBeGreaterThanOrEqual(beganMs)
  })

  test.each([
    ['a relay without dead letters', null, 'source', /relay 'copy' has no dead letters/],
    ['its own topic as the target', 'dead', 'dead', /'dead' is the dead letter topic itself/],
  ])('%s is refused', (_, deadLetters, to, message) => {
    const { relay } = new ModelWorld(2)
    expect(() => redriveRelay({ ...relay, deadLetters }, to)).toThrow(message)
  })
})
