import type { Facts } from '../facts/facts.ts'
import { type Finding, fail, ok, type Subject, unknown } from '../finding.ts'

/** An event carries records without saying which were aborted: `read: 'event'` is for sources without transactions. */
export function sourceTransactionChecks({ producers }: Facts): readonly Finding[] {
  return producers.map(({ relay, topic, transactional }) => {
    const subject: Subject = {
      id: 'source.transactions',
      about: topic,
      what: "transactional producers (read: 'event')",
      wanted: 'none: events do not tell aborted records',
    }
    if (!transactional.told) return unknown(subject, transactional.why)
    if (transactional.value === 0) return ok(subject, 'none')
    return fail(
      subject,
      `${transactional.value} of late`,
      `take read: 'event' out of ${relay} (read: 'log' is the default)`,
    )
  })
}
