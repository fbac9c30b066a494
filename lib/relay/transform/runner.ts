import type { Clock } from '../../clock.ts'
import type { RelayError } from '../../errors.ts'
import type { RunningRelay } from '../compiled-relay.ts'
import { transformConcurrently } from './concurrently.ts'
import { transformInOrder } from './in-order.ts'
import type { OpenedPlan } from './open-codecs.ts'
import type { TransformWindow } from './plan.ts'
import { TransformResults } from './results.ts'
import { TransformTime } from './time.ts'
import { transformTogether } from './together.ts'

/**
 * Runs a relay's own code over windows. Windows of several lanes may be on their way at once and share nothing but what
 * `setup` returned.
 *
 * An emit that comes after its transform returned belongs to no window any more: from then on this container transforms
 * nothing (EMIT_TOO_LATE), because the window that lacks the output may have been committed.
 */
export function createRunner(plan: OpenedPlan, setup: object, clock: Clock): RunningRelay {
  let lateEmit: RelayError | null = null
  const refuseAfterLateEmit = () => {
    if (lateEmit) throw lateEmit
  }
  const onLateEmit = (error: RelayError) => {
    lateEmit ??= error
  }
  return {
    async transform(records, sink, options) {
      refuseAfterLateEmit()
      const time = new TransformTime(clock, options)
      const results = new TransformResults(sink, plan.policy, options.attempt, clock)
      const { rejected } = options
      try {
        const preparing = plan.prepare(records, time.signal)
        if (preparing) await time.wait(preparing)
        await runTransform({ plan, setup, records, rejected, results, time, clock, onLateEmit })
      } finally {
        time.end()
        refuseAfterLateEmit() // whatever else came: even of a window that stops at a record the part before it is committed
      }
      return results.counts
    },
  }
}

function runTransform(window: TransformWindow): Promise<void> {
  const { transform } = window.plan
  switch (transform.of) {
    case 'each record in turn':
      return transformInOrder(window, transform.call)
    case 'several records at once':
      return transformConcurrently(window, transform.call, transform.limits)
    case 'whole window':
      return transformTogether(window, transform.call, transform.limits)
  }
}
