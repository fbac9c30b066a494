import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { isRelayError, type RelayError } from '../../../lib/errors.ts'
import { LocalKafkaNode } from '../../../lib/local/kafka-node.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-node-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** What a start is reported with when the broker says these lines and exits. */
async function failureOf(lines: readonly string[], port = 20_001): Promise<RelayError> {
  const plan = { id: 1, port, controllerPort: 20_002, dataDir: dir }
  const script = `console.error(${JSON.stringify(lines.join('\n'))}); process.exit(1)`
  const node = new LocalKafkaNode(plan, join(dir, 'log'), process.execPath, ['-e', script], systemClock)
  await node.launch()
  const error = await node.untilServing([1]).catch((thrown: unknown) => thrown)
  if (!isRelayError(error)) throw error
  return error
}

test('a port that was taken after it was chosen is told apart, so that the start is planned anew', async () => {
  const error = await failureOf(['java.net.BindException: Address already in use', '\tat sun.nio.ch.Net.bind0(Native)'])
  expect(error.context).toMatchObject({ portTaken: true, port: 20_001 })
  expect(error.message).toContain('Port 20001 or its controller')
})

test('other failures quote what the broker warned of, not how it shut down', async () => {
  const error = await failureOf([
    '2026-01-01 [main] ERROR kafka.Kafka$ - Exiting because log.dirs is on fire',
    '2026-01-01 [main] INFO kafka.server - shutting down',
  ])
  expect(error.context).toMatchObject({ portTaken: false })
  expect(error.message).toContain('log.dirs is on fire')
  expect(error.message).not.toContain('shutting down')
})

test('words of an earlier start in the same log do not explain this one', async () => {
  await writeFile(join(dir, 'log'), 'java.net.BindException: Address already in use\n')
  const error = await failureOf(['no disk left'])
  expect(error.context).toMatchObject({ portTaken: false })
  expect(error.message).not.toContain('Address already in use')
})
