import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { header } from '../../../lib/kafka/record-batch/layout.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { resign } from '../../helpers/log-batches.ts'
import { resumeLane } from '../../helpers/operator.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring, stopOf } from '../../helpers/ringing.ts'

let dir: string
let kafka: KafkaHandle
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-broken-logs-'))
  kafka = await startKafka({ version: '4.1', dataDir: dir })
})
afterAll(async () => {
  await kafka.stop()
  await rm(dir, { recursive: true, force: true })
})

/** The second of two batches in a log file. */
function secondBatch(log: Buffer): Buffer {
  const first = header.partitionLeaderEpoch + log.readInt32BE(header.length)
  return log.subarray(first, first + header.partitionLeaderEpoch + log.readInt32BE(first + header.length))
}

const flipLastByte = (batch: Buffer): void => {
  batch.writeUInt8(batch.readUInt8(batch.length - 1) ^ 0xff, batch.length - 1)
}

const setCompression = (batch: Buffer): void => {
  batch.writeInt16BE(batch.readInt16BE(header.attributes) | 6, header.attributes)
  resign(batch)
}

/** Changes the log files of several sources while the broker is down, and answers how to mend them. */
async function harm(...harms: readonly (readonly [RelayWorld, (batch: Buffer) => void])[]) {
  const [node] = kafka.nodes
  await node?.kill('SIGTERM')
  const mended: (() => Promise<void>)[] = []
  for (const [{ names }, change] of harms) {
    const file = join(dir, 'node-1', 'data', `${names.source}-0`, '00000000000000000000.log')
    const log = await readFile(file)
    const sound = Buffer.from(log)
    change(secondBatch(log))
    expect(log.equals(sound)).toBe(false)
    await writeFile(file, log)
    mended.push(() => writeFile(file, sound))
  }
  await node?.restart()
  return async () => {
    await node?.kill('SIGTERM')
    for (const mend of mended) await mend()
    await node?.restart()
  }
}

test('a batch that is damaged or of an unknown compression: all before it is relayed, the lane waits there', async () => {
  const damaged = await relayWorld({ brokers: kafka.brokers })
  const foreign = await relayWorld({ brokers: kafka.brokers })
  const before = [await damaged.produce(3), await foreign.produce(3)]
  const behind = [await damaged.produce(2), await foreign.produce(2)]
  const mend = await harm([damaged, flipLastByte], [foreign, setCompression])

  const failure = await failureOf(ring(await damaged.container()))
  expect(failure).toMatchObject({ code: 'CORRUPT_BATCH', disposition: 'retry' })
  expect(failure.message).toContain(`the batch at offset 3 of ${damaged.names.source}-0: its checksum is 0x`)
  expect(failure.message).toContain("check the leader's disk or move the leadership")
  const stop = await stopOf(ring(await foreign.container()))
  expect(stop.code).toBe('UNKNOWN_COMPRESSION')
  expect(stop.message).toContain(
    `the batch at offset 3 of ${foreign.names.source}-0 has compression 6, known are 0 to 4`,
  )
  expect(stop.message).toContain('update Fencepost, or reset the lane past it')
  expect([await damaged.delivered(), await foreign.delivered()]).toEqual(before)

  await mend()
  await resumeLane(foreign)
  for (const [index, world] of [damaged, foreign].entries()) {
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual([...(before[index] ?? []), ...(behind[index] ?? [])])
  }
}, 120_000)
