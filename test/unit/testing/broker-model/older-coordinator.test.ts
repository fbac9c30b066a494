import { describe, expect, it } from 'vitest'
import { HeldEffects } from '../../../../lib/testing/broker-model/effects.ts'
import { openTransaction } from '../../../contract/broker/scene.ts'
import { bench } from './fixture.ts'

describe('the group coordinator of Kafka 3.x', () => {
  it('shows the old offset for a moment although every marker is written', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects, transactionVersion: 1 })
    const { run, client, group, first, id } = scene
    const producer = await run(openTransaction(scene, 100n))
    await run(client.end(1, producer, true))
    effects.release(({ kind }) => kind !== 'offsets')
    expect((await run(client.init(id))).code).toBe(0)

    expect(await run(client.committed(group, first, false))).toMatchObject({ code: 0, offset: -1n })
    expect(await run(client.committed(group, first, true))).toMatchObject({ code: 88 })
    effects.release()
    expect(await run(client.committed(group, first, true))).toMatchObject({ code: 0, offset: 100n })
  })

  it.each([
    { transactionVersion: 1, committed: -1n },
    { transactionVersion: 2, committed: 200n },
  ] as const)(
    'loses the offsets of a session to a late request of the one before, version $transactionVersion: $committed',
    async ({ transactionVersion, committed }) => {
      const scene = await bench({ transactionVersion })
      const { run, client, group, first, id } = scene
      const fenced = await run(client.begin(id))
      const producer = await run(openTransaction(scene, 200n))
      expect(await run(client.commitOffset(transactionVersion, fenced, group, first, 100n))).toBe(47)
      await run(client.end(transactionVersion, producer, true))
      expect(await run(client.committed(group, first, true))).toMatchObject({ code: 0, offset: committed })
    },
  )
})
