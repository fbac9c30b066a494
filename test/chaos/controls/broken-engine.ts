import type { Control } from '../../../lib/cli/chaos.ts'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import { fencepostSubject } from '../../../lib/local/chaos/fencepost-subject.ts'
import { type BrokenRule, breaking } from '../../helpers/broken-rule.ts'

/** Fencepost without a rule of its protocol, in the same processes under the same faults: this harness must catch it. */
function without(name: string, broken: BrokenRule, faults: readonly string[]): Control {
  const subject = fencepostSubject(name, ({ module, trigger, dir }) => {
    return bundleRelay(module, trigger, dir, [breaking(broken)])
  })
  return { subject, faults, rate: 200 }
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
