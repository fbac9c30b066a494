import { expect, test } from 'vitest'
import { callWithAttempts } from '../../../../lib/relay/transform/attempts.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure } from '../../../helpers/relay-window.ts'

test('no call is begun for a window that was given up', async () => {
  let calls = 0
  const start = () => {
    calls++
  }
  const time = { signal: AbortSignal.abort(new Error('given up')) }
  const context = { clock: new VirtualClock(), time, onLateEmit: () => undefined }
  expect(await failure(callWithAttempts(start, { timeoutMs: 1, retries: 3 }, context))).toMatchObject({
    message: 'given up',
  })
  expect(calls).toBe(0)
})
