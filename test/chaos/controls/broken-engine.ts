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
        const contents = replaceOnce(file, await readFile(path, 'utf8'), rule, instead)
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** The engine may have moved on since the control was written: then it must not run unbroken. */
function replaceOnce(file: string, text: string, rule: string, instead: string): string {
  const parts = text.split(rule)
  if (parts.length === 2) return parts.join(instead)
  throw new Error(`lib/${file} has ${parts.length - 1} times what is to be broken, wanted once: ${rule}`)
}

/** R4: a transactional id of its own for each session, so that a successor fences nobody and aborts nothing. */
export const randomIds = without(
  'random-ids',
  {
    file: 'relay/barrier.ts',
    rule: 'transactionalId: id.transactionalId, group',
    instead: 'transactionalId: id.transactionalId + Math.random(), group',
  },
  ['pause-function'],
)
