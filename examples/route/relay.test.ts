import { expect, test } from 'vitest'
import { testRelay } from '../../lib/testing/index.ts'
import ticketRouter from './relay.ts'

const ticket = (id: string, product: string, priority: 'low' | 'high' = 'low') => {
  return { key: id, value: { id, product, priority, text: 'It smokes.' } }
}

test('a ticket goes to the team of its product, byte for byte', async () => {
  const relay = testRelay(ticketRouter)
  await relay.pipe([
    ticket('t1', 'printer'),
    ticket('t2', 'mail'),
    { bytes: ' {"id":"t3","product":"scanner","priority":"low","text":""} ' },
  ])
  expect(relay.outputs.hardware.values().map(String)).toEqual([
    JSON.stringify(ticket('t1', 'printer').value),
    ' {"id":"t3","product":"scanner","priority":"low","text":""} ',
  ])
  expect(relay.outputs.software.values()).toHaveLength(1)
})

test('an urgent ticket goes to its team and to the pager, both or neither', async () => {
  const relay = testRelay(ticketRouter)
  await relay.crash('before-commit')
  await relay.pipe(ticket('t1', 'mail', 'high'))
  expect(relay.outputs.pager.values()).toEqual([{ id: 't1', team: 'software' }])
  expect(relay.outputs.software.values()).toHaveLength(1)
})

test('what nobody can take is a dead letter with its reason and its place; the others go on', async () => {
  const relay = testRelay(ticketRouter)
  await relay.pipe([ticket('t1', 'toaster'), { bytes: '{"id":' }, ticket('t2', 'mail')])
  expect(relay.deadLetters.records()).toMatchObject([
    { error: { code: 'TRANSFORM_FAILED', message: expect.stringContaining("'toaster'") }, source: { offset: 0n } },
    { value: Buffer.from('{"id":'), error: { code: 'DECODE_FAILED' }, source: { topic: 'tickets', offset: 1n } },
  ])
  expect(relay.outputs.software.values()).toHaveLength(1)
})
