import { expect, test } from 'vitest'
import { Notifier } from '../../../../lib/local/esm-poller/notifier.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'

const never = new AbortController().signal

test('a change before the wait is not slept through', async () => {
  const notifier = new Notifier()
  const seen = notifier.version
  notifier.notify()
  await notifier.after(seen, 60_000, new VirtualClock(), never)
  expect(notifier.version).toBe(seen + 1)
})

test('a change during the wait ends it, for everybody who waits', async () => {
  const notifier = new Notifier()
  const clock = new VirtualClock()
  const waits = [notifier.after(0, 60_000, clock, never), notifier.after(0, 60_000, clock, never)]
  notifier.notify()
  await Promise.all(waits)
})

test('an abort ends the wait without an error', async () => {
  const abort = new AbortController()
  const wait = new Notifier().after(0, 60_000, new VirtualClock(), abort.signal)
  abort.abort()
  await wait
})
