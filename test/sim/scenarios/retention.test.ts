import { expect, it } from 'vitest'
import { topics } from '../sim-relay.ts'
import { perform } from './stage.ts'

it.each([1, 2] as const)(
  'P11: a log that ends with aborted records and a marker is relayed to its end; retention then takes nothing that was missed (protocol %i)',
  async (protocol) => {
    await perform({ protocol }, async (stage) => {
      const { judge, model } = stage.world
      const pull = { kind: 'pull', lingerUntilMs: null } as const
      stage.write(2)
      const recordsEnd = model.topics.partition(topics.source, 0)?.log.endOffset ?? 0n
      await stage.source.holdOpen(0)
      await stage.sleep(stage.source.transactionTimeoutMs + 20_000)
      expect(await stage.ring(await stage.container(), pull)).toEqual(['done'])
      await stage.sleep(100) // for the markers
      const log = model.topics.partition(topics.source, 0)?.log
      expect(judge.position).toBe(log?.endOffset)
      expect(judge.position).toBeGreaterThan(recordsEnd + 1n)
      judge.archive()
      log?.deleteBefore(log.endOffset)
      stage.write(1)
      expect(await stage.ring(await stage.container(), pull)).toEqual(['done'])
    })
  },
)
