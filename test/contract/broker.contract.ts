import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Generation } from './broker/client.ts'
import { dangerRows } from './broker/danger-rows.ts'
import { epochRows } from './broker/epoch-rows.ts'
import { logRows } from './broker/log-rows.ts'
import { offsetRows } from './broker/offset-rows.ts'
import { type BrokerUnderTest, type Define, openTransaction, sceneOf } from './broker/scene.ts'
import { transactionRows } from './broker/transaction-rows.ts'

/**
 * What Fencepost relies on in a broker, as answers to single requests: the same suite for the model and for real
 * brokers. Where they differ the real ones are right. `generation` says which requests are sent: those that know
 * transaction.version 2, or the older ones, which newer brokers answer too.
 */
export function brokerContract(name: string, generation: Generation, open: () => Promise<BrokerUnderTest>): void {
  describe(name, () => {
    let broker: BrokerUnderTest
    beforeAll(async () => {
      broker = await open()
      await broker.run(warmUp(broker, generation))
    })
    afterAll(() => broker?.close())

    const it: Define = (title, body) => {
      test(title, () => broker.run(sceneOf(broker, generation).then(body)))
    }
    describe('transactions', () => transactionRows(it))
    describe('offsets', () => offsetRows(it))
    describe('log', () => logRows(it))
    describe('dangers', () => dangerRows(it))
    describe('epochs', () => epochRows(it))
  })
}

/** Internal topics are made by their first use, and refuse meanwhile. */
async function warmUp(broker: BrokerUnderTest, generation: Generation): Promise<void> {
  const scene = await sceneOf(broker, generation)
  await broker.client.settled(
    () => broker.client.commitPlain(scene.group, scene.first, 1n),
    (code) => code,
  )
  await broker.client.endAndWait(generation, await openTransaction(scene), true)
}
