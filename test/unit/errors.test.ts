import { expect, test } from 'vitest'
import { errorCodes, RelayError } from '../../lib/errors.ts'

test('a message begins with its code, once, also where it quotes an error of the same kind', () => {
  const inner = new RelayError('BROKER_UNAVAILABLE', 'no answer from b-1:9092')
  expect(inner.message).toBe('BROKER_UNAVAILABLE: no answer from b-1:9092')
  expect(new RelayError('BROKER_UNAVAILABLE', inner.message).message).toBe(inner.message)
  expect(new RelayError('SESSION_POISONED', inner.message).message).toBe(`SESSION_POISONED: ${inner.message}`)
})

test('an error says what to do by its code unless told otherwise, and that nothing was applied', () => {
  for (const [code, [disposition]] of Object.entries(errorCodes)) {
    const error = new RelayError(code as keyof typeof errorCodes, 'why')
    expect(error).toMatchObject({ name: 'RelayError', code, disposition, outcome: 'not-applied', context: {} })
  }
  expect(new RelayError('COMMIT_UNKNOWN', 'why', { outcome: 'unknown', disposition: 'retry' })).toMatchObject({
    outcome: 'unknown',
    disposition: 'retry',
  })
})
