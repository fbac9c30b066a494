import type { Deadline } from '../clock.ts'
import { messageOf, RelayError } from '../errors.ts'
import { tpKey } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import type { CommittedView } from './committed-view.ts'
import type { SessionLedger } from './ledger.ts'
import type { OffsetToCommit } from './session.ts'

/** Times that lost offsets are sent or committed once more before it is given up. */
const REPAIRS_MAX = 3

/** Sends the offsets in the transaction that is open; tells who acknowledged. */
type Send = (offsets: readonly OffsetToCommit[]) => Promise<NodeAddress>

/**
 * Guards the offsets of a transaction on the older protocol against requests of sessions that are long fenced.
 *
 * The classic group coordinator (Kafka 3.x) notes the offsets of a TxnOffsetCommit before it appends them. When the append
 * of an older epoch is then refused with 47, it drops what it holds for that producer id: the offsets of the *newer*
 * session, which it had acknowledged. EndTxn answers 0, the outputs are visible, and the offset is as before: the window
 * would be relayed again. Seen on 3.9.1; such a request is refused without harm as long as no newer one is pending.
 *
 * So the offsets must still be pending right before EndTxn, and committed right after it; lost in the few milliseconds
 * between, they are committed once more by the same session. The newer coordinator (4.x) notes offsets only when they
 * are appended, and transaction.version 2 needs it: nothing is asked there.
 * Source: GroupMetadata.prepareTxnOffsetCommit, failPendingTxnOffsetCommit in Kafka 3.9.
 */
export class OffsetGuard {
  readonly #committed: CommittedView
  readonly #ledger: SessionLedger
  #offsets: readonly OffsetToCommit[] = []
  #node: NodeAddress | null = null

  constructor(committed: CommittedView, ledger: SessionLedger) {
    this.#committed = committed
    this.#ledger = ledger
  }

  /** A new transaction begins. */
  forget(): void {
    this.#offsets = []
    this.#node = null
  }

  accepted(offsets: readonly OffsetToCommit[], node: NodeAddress): void {
    const again = new Set(offsets.map(tpKey))
    this.#offsets = [...this.#offsets.filter((offset) => !again.has(tpKey(offset))), ...offsets]
    this.#node = node
    this.#ledger.offsetsIn()
  }

  /**
   * Right before EndTxn(commit). Offsets that are gone are sent once more: that puts them back, or finds out that this
   * session itself was fenced.
   * @throws RelayError SESSION_FENCED, SESSION_POISONED (not-applied)
   */
  async mustStand(deadline: Deadline, sendAgain: Send): Promise<void> {
    if (this.#ledger.protocol === 2 || this.#ledger.state !== 'open') return
    const offsets = this.#offsets
    for (let repairs = 0; this.#node !== null; repairs++) {
      const pending = await this.#committed.arePending(offsets, this.#node, deadline).catch(messageOf)
      if (pending === true) return
      if (pending !== false || repairs === REPAIRS_MAX) throw this.#notStanding(pending || 'removed again and again')
      this.#node = await sendAgain(offsets)
    }
  }

  /**
   * Right after EndTxn(commit) was answered 0. When nobody can tell in time, the session is closed, so that the next one
   * reads what is committed.
   * @throws RelayError OFFSETS_LOST (applied) when the offsets are gone and cannot be committed once more
   */
  async mustHold(
    deadline: Deadline,
    commitAgain: (offsets: readonly OffsetToCommit[]) => Promise<void>,
  ): Promise<void> {
    if (this.#ledger.protocol === 2) return
    const offsets = this.#offsets
    for (let repairs = 0; ; repairs++) {
      const held = await this.#committed.areCommitted(offsets, deadline)
      if (held === true) return
      if (held === null) return void this.#ledger.abandon(this.#lost('could not be read back'))
      if (repairs === REPAIRS_MAX || this.#ledger.state !== 'ready') throw this.#lost('are not committed')
      await commitAgain(offsets).catch((error) => {
        throw this.#lost('are not committed, and committing them once more failed', error)
      })
    }
  }

  #notStanding(why: string): RelayError {
    const message = `offsets of ${this.#ledger.name} could not be found pending before its commit: ${why}`
    return this.#ledger.doubt(new RelayError('SESSION_POISONED', message))
  }

  #lost(what: string, cause?: unknown): RelayError {
    const where = this.#offsets.map((offset) => `${tpKey(offset)}@${offset.offset}`).join(', ')
    const message = `the transaction of ${this.#ledger.name} is committed, but its offsets ${where} ${what}; Kafka 4 does not lose them`
    return new RelayError('OFFSETS_LOST', message, { outcome: 'applied', ...(cause === undefined ? {} : { cause }) })
  }
}
