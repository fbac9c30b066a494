import type { BrokenRule } from '../../helpers/broken-rule.ts'

/** The engine without one of its rules, and a cell of the crash matrix that must notice. */
export interface Mutant extends BrokenRule {
  readonly breaks: string
  readonly cell: string
}

export const mutants: readonly Mutant[] = [
  {
    breaks: 'R5, P3: on the older protocol an unanswered transmission ends the session',
    file: 'transaction/ledger.ts',
    rule: 'const clean = this.protocol === 2 || this.#unanswered === 0',
    instead: 'const clean = true',
    cell: 'kafka-3.new.commit-first.after.late-copy.same-event',
  },
  {
    breaks: 'ADR: on Kafka 3 the offsets are read back after EndTxn',
    file: 'transaction/offset-guard.ts',
    rule: 'if (this.#ledger.protocol === 2) return\n',
    instead: 'if (this.#offsets.length >= 0) return\n',
    cell: 'kafka-3.warm.offsets.before.pause.same-event',
  },
  {
    breaks: 'R7: a take-over moves the token on',
    file: 'fencing/fence-rules.ts',
    rule: "token: kind === 'continue' ? found.token : found.token + 1,",
    instead: 'token: found.token,',
    cell: 'kafka-4.new.acquire.after.pause.same-event',
  },
  {
    breaks: 'R7, P14: every write is conditional on token and nonce',
    file: 'fencing/fence-store.ts',
    rule: 'return stored.token === expected.token && nonce === expected.nonce && stored.revision < revision',
    instead: 'return nonce !== expected.nonce || stored.revision < revision',
    cell: 'kafka-4.new.confirm.after.pause.same-event',
  },
  {
    breaks: 'R8: a first position is committed before the first window',
    file: 'relay/anchor.ts',
    rule: 'if (mustCommit(reconciled)) await commitOffsetsOnly(committer, positions, deadline)',
    instead: 'if (positions.size < 0) await commitOffsetsOnly(committer, positions, deadline)',
    cell: 'kafka-4.new.join-partitions.before.pause.same-event',
  },
  {
    breaks: 'R8: a lane is marked dirty before its first window',
    file: 'relay/anchor.ts',
    rule: 'const changes: FenceChanges = fence.record.dirty ? after : { ...after, dirty: true }',
    instead: 'const changes: FenceChanges = after',
    cell: 'kafka-4.new.commit.after.crash.same-event',
  },
  {
    breaks: 'step 8: all requests of a window are answered before it is committed',
    file: 'relay/window.ts',
    rule: 'const results = await Promise.allSettled(both)',
    instead: 'const results = [...(await Promise.allSettled([Promise.race(both)]))]',
    cell: 'kafka-4.handed-over.produce.after.silence.same-event',
  },
]
