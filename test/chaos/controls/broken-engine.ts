import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import type { Control } from '../../../lib/cli/chaos.ts'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import { fencepostSubject } from '../../../lib/local/chaos/fencepost-subject.ts'

/** One rule of the commit protocol taken out of one file of the engine, in the bundle only. */
interface BrokenRule {
  /** Under lib/. */
  readonly file: string
  /** Stands in it once. */
  readonly rule: string
  readonly instead: string
}

/** Fencepost without a rule of its protocol, in the same processes under the same faults: this harness must catch it. */
function without(name: string, broken: BrokenRule, faults: readonly string[]): Control {
  const subject = fencepostSubject(name, ({ module, trigger, dir }) => {
    return bundleRelay(module, trigger, dir, [breaking(broken)])
  })
  return { subject, faults, rate: 200 }
}

function breaking({ file, rule, instead }: BrokenRule): Plugin {
  const path = join(import.meta.dirname, '..', '..', '..', 'lib', file)
  return {
    name: 'broken-engine',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async (asked) => {
        if (asked.path !== path) return undefined
        const parts = (await readFile(path, 'utf8')).split(rule)
        if (parts.length !== 2) throw new Error(`${file} has the rule ${parts.length - 1} times, wanted once: ${rule}`)
        return { contents: parts.join(instead), loader: 'ts' }
      })
    },
  }
}

/** R3: a commit whose answer is lost is taken for one that failed, and its window is relayed again. */
export const unknownIsFailed = without(
  'unknown-is-failed',
  { file: 'relay/recover.ts', rule: 'lane.positions = anchored.positions', instead: '' },
  ['lost-reply'],
)

/** R4: a transactional id of its own for each session, so that a successor fences nobody and aborts nothing. */
export const randomIds = without(
  'random-ids',
  {
    file: 'relay/barrier.ts',
    rule: 'const config = { transactionalId: id.transactionalId, group',
    instead: 'const config = { transactionalId: id.transactionalId + Math.random(), group',
  },
  ['pause-function'],
)
