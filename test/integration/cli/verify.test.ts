import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realCluster } from '../../contract/verify/real-cluster.ts'
import { Scene } from '../../contract/verify/scene.ts'
import { runCliProcess } from '../../helpers/cli.ts'
import { runMarker } from '../../helpers/leftovers.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'

const directories: string[] = []
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})

/** The environment is read as that of a function, strictly: the run's own mark is no setting. */
const { [runMarker]: _, ...environment } = process.env
const verifyProcess = (args: readonly string[]) => runCliProcess(args, environment).ended

/** The scene's relay as a user's module, for another process. */
async function moduleOf(scene: Scene): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fencepost-relay-'))
  directories.push(directory)
  const file = join(directory, 'sort.mjs')
  const api = JSON.stringify(join(import.meta.dirname, '..', '..', '..', 'lib', 'index.ts'))
  const names = JSON.stringify([scene.source, scene.even, scene.odd, scene.dead])
  await writeFile(
    file,
    `import { defineRelay, json, topic } from ${api}
const [source, even, odd, dead] = ${names}
export default defineRelay({
  name: 'sort',
  source: topic(source, json()),
  outputs: { even: topic(even, json()), odd: topic(odd, json()) },
  deadLetters: topic(dead),
  transform({ value: { n } }, { emit }) {
    if (n < 0) return
    if (n % 2 === 0) emit.even({ n: n * 2 })
    else emit.odd({ n })
  },
})
`,
  )
  return file
}

describe('fencepost verify', () => {
  test('exits with 0 when it has proven a relay and with 1 when it has found something', async () => {
    const { cluster, freshName, close } = await realCluster('4.1')
    try {
      const scene = await Scene.make({ cluster, freshName, run: (work) => work })
      await scene.produce(0, [1, 2, 'no json', 4, 6, 7])
      await scene.ring()
      const brokers = (await kafkaBrokers('4.1')).join(',')
      const args = ['verify', '--relay', await moduleOf(scene), '--prefix', scene.prefix, '--brokers', brokers]
      const verify = (...more: string[]) => verifyProcess([...args, ...more])

      const proven = await verify('--json', '--complete')
      expect(proven).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(proven.stdout)).toMatchObject({
        ok: true,
        records: 6,
        expected: 6,
        delivered: 6,
        deadLetters: 1,
      })
      await scene.append([scene.doubled(2, 0)])
      const violated = await verify()
      expect(violated.code).toBe(1)
      expect(violated.stdout).toMatch(
        /✗ 1 output too many\n {4}even-.+\/0\/\d+\n.*Violated, in 6 records of the source/s,
      )
    } finally {
      await close()
    }
  })

  test('exits with 2 when all must be relayed and something is left', async () => {
    const { cluster, freshName, close } = await realCluster('4.1')
    try {
      const scene = await Scene.make({ cluster, freshName, run: (work) => work })
      await scene.produce(0, [1, 3])
      const brokers = (await kafkaBrokers('4.1')).join(',')
      const args = ['verify', '--relay', await moduleOf(scene), '--prefix', scene.prefix, '--brokers', brokers]
      const { code, stdout, stderr } = await verifyProcess([...args, '--complete', '--json'])
      expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, verdict: 'unproven', lag: 2 })
    } finally {
      await close()
    }
  })
})
