import { describe, expect, test } from 'vitest'
import { deadlineIn } from '../../../../lib/clock.ts'
import { bytes, defineRelay, isRelayError, json, minutes, topic } from '../../../../lib/index.ts'
import type { Problem } from '../../../../lib/problems.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure, record, startRelay } from '../../../helpers/relay-window.ts'

const plain = {
  name: 'plain',
  source: topic('source', bytes()),
  outputs: { out: topic('out', bytes()) },
  transform: () => undefined,
}

describe('a relay without settings', () => {
  test('is exactly once, reads the log from its beginning and stops at a record that cannot pass', () => {
    expect(defineRelay(plain)).toMatchObject({
      name: 'plain',
      sourceTopic: 'source',
      outputTopics: ['out'],
      deadLetters: null,
      guarantee: 'exactly-once',
      startAt: 'earliest',
      read: 'log',
      partitionsPerLane: 1,
      window: { recordsMax: 7_000, bytesMax: 8 * 1_024 * 1_024, msMax: 10_000 },
      commitEveryMs: 1_000,
      poisonAttempts: 3,
    })
  })

  test('keeps its topics with their codecs, so that tests and the verifier can read outputs', () => {
    const relay = defineRelay({ ...plain, outputs: { late: topic('late', json<number>()) } })
    expect(relay.outputs.late.value.decode(Buffer.from('7'))).toBe(7)
    expect(relay.source.name).toBe('source')
  })
})

test('dead letters are one of the topics that the relay writes', () => {
  const relay = defineRelay({ ...plain, deadLetters: topic('dead') })
  expect(relay).toMatchObject({ deadLetters: 'dead', outputTopics: ['out', 'dead'] })
})

test('a start date becomes a number, which is what is remembered', () => {
  expect(defineRelay({ ...plain, startAt: new Date(1_000) }).startAt).toEqual({ timestampMs: 1_000 })
})

describe('the window of a relay with async calls', () => {
  const recordsMax = (async: { concurrency: number; timeoutMs?: number }, window = {}) =>
    defineRelay({ ...plain, async, window }).window.recordsMax

  test('holds as many records as fit its time even when each call takes all of its own', () => {
    expect(recordsMax({ concurrency: 16, timeoutMs: 1_000 })).toBe(160)
    expect(recordsMax({ concurrency: 16, timeoutMs: 1_000 }, { ms: 20_000 })).toBe(320)
  })

  test('holds at least four rounds of calls, and at most as many records as any window', () => {
    expect(recordsMax({ concurrency: 10, timeoutMs: minutes(1) })).toBe(40)
    expect(recordsMax({ concurrency: 1_000, timeoutMs: 10 })).toBe(7_000)
  })

  test('is as large as the relay says, if it says so', () => {
    expect(recordsMax({ concurrency: 16 }, { records: 7 })).toBe(7)
  })
})

describe('a definition that cannot work', () => {
  test('is refused with all its problems at once: path, value, bound and fix', () => {
    const error = refusal({ ...plain, name: 'a.b', partitionsPerLane: 0, window: { records: 1.5 } })
    expect(error.message).toBe(
      [
        "CONFIG_INVALID: relay 'a.b' has 3 problems",
        "  name is 'a.b', wanted 1 to 56 letters, digits, '_' or '-' (no dots: they divide transactional ids), not ending in '-redrive'. Fix: rename the relay",
        '  window.records is 1.5, wanted a whole number from 1 to 1,000,000. Fix: set it within these bounds, or leave it out for the default',
        '  partitionsPerLane is 0, wanted a whole number from 1 to 10,000. Fix: set it within these bounds, or leave it out for the default',
      ].join('\n'),
    )
  })

  const out = topic('out', bytes())
  test.each<[reason: string, paths: string[], change: object]>([
    ['a setting that does not exist', ['windows'], { windows: {} }],
    ['a source that is not a topic', ['source'], { source: 'flights' }],
    ['an output that is not a topic', ['outputs.late'], { outputs: { late: 'flights.late' } }],
    ['no source and no outputs', ['source', 'outputs'], { source: undefined, outputs: undefined }],
    ['no output', ['outputs'], { outputs: {} }],
    ['a relay without a name', ['name'], { name: undefined }],
    ['a topic name that Kafka refuses', ['outputs.out'], { outputs: { out: topic('out put') } }],
    ['an output that `emit.` cannot be followed by', ['outputs.on-time'], { outputs: { 'on-time': out } }],
    ['an output that would make `emit` a promise', ['outputs.then'], { outputs: Object.fromEntries([['then', out]]) }],
    ['a loop back into the source', ['outputs.out'], { outputs: { out: topic('source') } }],
    ['two outputs in one topic', ['outputs.b'], { outputs: { a: out, b: out } }],
    ['dead letters in the source', ['deadLetters'], { deadLetters: topic('source') }],
    ['dead letters among outputs', ['deadLetters'], { deadLetters: topic('out') }],
    ['no transform', ['transform'], { transform: undefined }],
    ['two transforms', ['transform'], { transformWindow: () => undefined }],
    ['concurrency of one call', ['async.concurrency'], { ...windowed, async: { concurrency: 2 } }],
    ['async without concurrency', ['async.concurrency'], { async: { retries: 1 } }],
    ['dead letters wanted, no topic for them', ['deadLetters'], { onError: 'dead-letter' }],
    [
      'a topic for dead letters that are never written',
      ['deadLetters'],
      { onError: 'skip', deadLetters: topic('dead') },
    ],
    ['an unknown policy', ['onError'], { onError: 'ignore' }],
    ['an unknown guarantee', ['guarantee'], { guarantee: 'at-most-once' }],
    ['an unknown way to read', ['read'], { read: 'group' }],
    ['records of the event, exactly once: it cannot say which were aborted (P13)', ['read'], { read: 'event' }],
    ['an unknown start', ['startAt'], { startAt: 'latest' }],
    ['a start at no date', ['startAt'], { startAt: new Date('soon') }],
    ['times out of bounds', ['window.ms', 'commitEveryMs'], { window: { ms: 0 }, commitEveryMs: minutes(15) }],
    [
      'async limits out of bounds',
      ['async.timeoutMs', 'async.retries'],
      { async: { concurrency: 1, timeoutMs: 0, retries: -1 } },
    ],
    ['a window of bytes that no record fits', ['window.bytes'], { window: { bytes: 10 } }],
    ['no attempts before poison', ['poisonAttempts'], { poisonAttempts: 0 }],
  ])('%s', (_reason, paths, change) => {
    const { problems } = refusal({ ...plain, ...change }).context as { problems: Problem[] }
    expect(problems.map(({ path }) => path)).toEqual(paths)
  })
})

const windowed = { transform: undefined, transformWindow: () => undefined }

describe('setup', () => {
  test('runs once per container, and every window gets what it returned', async () => {
    let runs = 0
    const seen: string[] = []
    const relay = defineRelay({
      ...plain,
      setup: async ({ secret }) => ({ greeting: `${await secret('WORD')} ${++runs}` }),
      transform: (_record, { greeting }) => {
        seen.push(greeting)
      },
    })
    const window = await startRelay(relay, { secrets: { WORD: 'hello' } })
    await window([record('a'), record('b')])
    await window([record('c')])
    expect(seen).toEqual(['hello 1', 'hello 1', 'hello 1'])
  })

  test('that throws is a failure to try again, not a verdict on records', async () => {
    const relay = defineRelay({ ...plain, setup: () => Promise.reject(new Error('no route')) as Promise<object> })
    expect(await failure(startRelay(relay))).toMatchObject({
      code: 'SETUP_FAILED',
      disposition: 'retry',
      message: 'SETUP_FAILED: no route',
    })
  })

  test('that never ends is given up when the time of the invocation is up', async () => {
    const clock = new VirtualClock()
    const relay = defineRelay({ ...plain, setup: () => new Promise<object>(() => undefined) })
    const secret = async () => ''
    const starting = relay.start({ secret, deadline: deadlineIn(clock, 5_000), clock })
    expect(await failure(clock.run(starting))).toMatchObject({ code: 'SETUP_FAILED' })
    expect(clock.sleeping).toBe(0)
  })

  test('may not hide emit or signal', async () => {
    const relay = defineRelay({ ...plain, setup: () => ({ emit: 1 }) as object })
    expect(await failure(startRelay(relay))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('setup().emit'),
    })
  })
})

/** As JavaScript would call it: types refuse most of these already. */
function refusal(definition: object) {
  try {
    defineRelay(definition as Parameters<typeof defineRelay>[0])
  } catch (error) {
    if (isRelayError(error) && error.code === 'CONFIG_INVALID') return error
    throw error
  }
  throw new Error('the definition should have been refused')
}
