/** A process that is one container of a relay, rings once, and kills itself at the place that it is told. */
import { systemClock } from '../../lib/clock.ts'
import { createDynamoDbFenceStore } from '../../lib/fencing/dynamodb-fence-store.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import { type ContainerPlace, startContainer } from './containers.ts'
import { copyAfter } from './gates.ts'
import { hastyClock } from './hasty-clock.ts'
import { eventOf, ring } from './ringing.ts'

export interface DyingContainer extends Omit<ContainerPlace, 'fences'> {
  readonly table: AwsEndpoint & { readonly table: string }
  readonly lastOffset: number
  /** How far its clock is ahead: leases that earlier containers left have run out for it. */
  readonly aheadMs: number
  /** The value in whose transform it dies, or the stage that it dies in as soon as that is written. */
  readonly dies: { readonly inTransformOf: string } | { readonly atStage: 'read' | 'transform' | 'commit' }
}

const die = (): void => void process.kill(process.pid, 'SIGKILL')

function dyingAt(fences: FenceStore, stage: string): FenceStore {
  return {
    ...fences,
    async write(write, deadline) {
      const result = await fences.write(write, deadline)
      if (write.kind === 'update' && write.changes.intent?.stage === stage) die()
      return result
    },
  }
}

const { table, lastOffset, aheadMs, dies, ...place }: DyingContainer = JSON.parse(process.argv[2] ?? '')
const store = createDynamoDbFenceStore(table, systemClock)
const fences = 'atStage' in dies ? dyingAt(store, dies.atStage) : store
const poison = 'inTransformOf' in dies ? dies.inTransformOf : null
const clock = hastyClock()
clock.skip(aheadMs)
const define = copyAfter((value) => (value === poison ? die() : undefined))
const runtime = await startContainer({ ...place, fences }, { clock, define })
const { ok } = await ring(runtime, eventOf(place.names.source, 0, lastOffset))
await runtime.cluster.close()
store.close()
process.exitCode = ok ? 0 : 1
