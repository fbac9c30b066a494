import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts'

describe('VirtualClock', () => {
  it('wakes sleepers in the order of their due times, and those of one moment in the order of their calls', async () => {
    const clock = new VirtualClock(0)
    const woken: string[] = []
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms)
      woken.push(`${name}@${clock.now()}`)
    }
    void Promise.all([sleep('c', 30), sleep('a', 10), sleep('b1', 20), sleep('b2', 20)])

    await clock.advance(25)
    expect(woken).toEqual(['a@10', 'b1@20', 'b2@20'])
    expect(clock.now()).toBe(25)
    await clock.advance(5)
    expect(woken.at(-1)).toBe('c@30')
  })

  it('lets everything that a sleeper sets in motion run before the next one wakes', async () => {
    const clock = new VirtualClock(0)
    const events: string[] = []
    const first = async () => {
      await clock.sleep(10)
      for (let step = 0; step < 50; step++) await Promise.resolve()
      events.push(`first done at ${clock.now()}`)
      await clock.sleep(5)
      events.push(`first again at ${clock.now()}`)
    }
    const second = async () => {
      await clock.sleep(20)
      events.push(`second at ${clock.now()}`)
    }
    void Promise.all([first(), second()])

    await clock.advance(100)
    expect(events).toEqual(['first done at 10', 'first again at 15', 'second at 20'])
  })

  it('does not move time by itself', async () => {
    const clock = new VirtualClock(7)
    let woke = false
    void clock.sleep(1).then(() => {
      woke = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect([woke, clock.now(), clock.sleeping, clock.nextWakeMs]).toEqual([false, 7, 1, 8])
  })

  it('counts whole milliseconds, and sleeps rather too long than too short', async () => {
    const clock = new VirtualClock(0)
    const woken: number[] = []
    void clock.sleep(1.2).then(() => woken.push(clock.now()))
    await clock.advance(1)
    expect(woken).toEqual([])
    await clock.advance(1)
    expect(woken).toEqual([2])
  })

  it('rejects an aborted sleep with the reason and forgets it', async () => {
    const clock = new VirtualClock(0)
    const abort = new AbortController()
    const sleep = clock.sleep(10, abort.signal)
    abort.abort(new Error('enough'))
    await expect(sleep).rejects.toThrow('enough')
    await expect(clock.sleep(10, abort.signal)).rejects.toThrow('enough')
    expect(clock.sleeping).toBe(0)
  })

  it('does not reject a sleep that ended before the signal', async () => {
    const clock = new VirtualClock(0)
    const abort = new AbortController()
    const sleep = clock.sleep(10, abort.signal)
    await clock.advance(10)
    abort.abort(new Error('too late'))
    await expect(sleep).resolves.toBeUndefined()
  })

  it('runs work to its end by leaping over its sleeps', async () => {
    const clock = new VirtualClock(0)
    const work = async () => {
      await clock.sleep(60_000)
      await Promise.all([clock.sleep(5), clock.sleep(3_600_000)])
      return clock.now()
    }
    expect(await clock.run(work())).toBe(3_660_000)
  })

  it('passes on the error of the work that it runs', async () => {
    const clock = new VirtualClock(0)
    const work = clock.sleep(10).then(() => Promise.reject(new Error('broken')))
    await expect(clock.run(work)).rejects.toThrow('broken')
  })

  it('names a standstill instead of waiting for ever', async () => {
    const clock = new VirtualClock(0)
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow('standstill')
  })

  it('does not leap over a timeout while something real is awaited', async () => {
    const clock = new VirtualClock(0)
    let isBusy = true
    const real = new Promise<string>((resolve) =>
      setTimeout(() => {
        isBusy = false
        resolve('real answer')
      }, 20),
    )
    const timeout = clock.sleep(600_000).then(() => 'timed out')
    expect(await clock.run(Promise.race([real, timeout]), { isBusy: () => isBusy })).toBe('real answer')
    expect(clock.now()).toBeLessThan(600_000)
  })
})
