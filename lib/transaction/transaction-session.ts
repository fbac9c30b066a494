import type { Deadline } from '../clock.ts'
import { messageOf, RelayError } from '../errors.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import { commitOffsets } from './commit-offsets.ts'
import { CommittedView } from './committed-view.ts'
import { abortTransaction, commitTransaction } from './end-transaction.ts'
import type { Sending } from './exchange.ts'
import { addOffsets, join, onOneBroker } from './join.ts'
import { OffsetGuard } from './offset-guard.ts'
import { produce } from './produce.ts'
import type {
  CommittedOffset,
  OffsetToCommit,
  PartitionBatches,
  SessionConfig,
  SessionState,
  TransactionSession,
} from './session.ts'

/**
 * A first append in the same millisecond as the last EndTxn answer waits 20 ms in the broker; 1 ms later it does not. The
 * clock counts whole milliseconds: two readings that differ by one can be closer together than that.
 */
const MARKERS_MS = 1

/** A session after its barrier; made by `openSession`. What it promises is written at `TransactionSession`. */
export class KafkaTransactionSession implements TransactionSession {
  readonly transactionalId: string
  readonly group: string
  readonly mayFenceItself: boolean
  readonly #sending: Sending
  readonly #committed: CommittedView
  readonly #offsets: OffsetGuard
  #endedAtMs = Number.NEGATIVE_INFINITY

  constructor(sending: Sending, { transactionalId, group }: SessionConfig, mayFenceItself: boolean) {
    this.transactionalId = transactionalId
    this.group = group
    this.mayFenceItself = mayFenceItself
    this.#sending = sending
    this.#committed = new CommittedView(sending.cluster, sending.random, group)
    this.#offsets = new OffsetGuard(this.#committed, sending.ledger)
  }

  get producerId(): bigint {
    return this.#sending.ledger.identity.producerId
  }

  get producerEpoch(): number {
    return this.#sending.ledger.identity.producerEpoch
  }

  get protocol(): 1 | 2 {
    return this.#sending.ledger.protocol
  }

  get state(): SessionState {
    return this.#sending.ledger.state
  }

  get reusable(): boolean {
    return this.state === 'ready'
  }

  async readCommitted(partitions: readonly TopicPartition[], deadline: Deadline): Promise<readonly CommittedOffset[]> {
    return this.#committed.read(partitions, deadline, () => this.#endPendingOffsets(deadline))
  }

  async confirmCommitted(
    partitions: readonly TopicPartition[],
    deadline: Deadline,
  ): Promise<readonly CommittedOffset[]> {
    this.#mustHaveRead(partitions)
    await this.begin([], deadline)
    try {
      const node = await this.#acknowledge(this.#committed.unchanged(partitions), deadline)
      return await this.#committed.ask(partitions, node, deadline)
    } finally {
      await this.abort(deadline)
    }
  }

  async begin(joins: readonly TopicPartition[], deadline: Deadline): Promise<void> {
    const { cluster, ledger } = this.#sending
    if (cluster.clock.now() - this.#endedAtMs <= MARKERS_MS) await cluster.clock.sleep(MARKERS_MS)
    const wanted = { transactionalId: this.transactionalId, group: this.group, partitions: joins }
    const implicit = ledger.protocol === 2 && (await onOneBroker(cluster, wanted, deadline))
    ledger.begin(joins)
    this.#offsets.forget()
    if (!implicit) await ledger.during(() => join(this.#sending, wanted, deadline))
  }

  async send(outputs: readonly PartitionBatches[], deadline: Deadline): Promise<void> {
    await produce(this.#sending, outputs, deadline)
  }

  async sendOffsets(offsets: readonly OffsetToCommit[], deadline: Deadline): Promise<void> {
    const { ledger, cluster } = this.#sending
    this.#mustHaveRead(offsets)
    await ledger.during(async () => {
      const node = await this.#acknowledge(offsets, deadline)
      const disagreement = await this.#disagreement(offsets, node, deadline)
      if (disagreement === null) return this.#offsets.accepted(offsets, node)
      cluster.forget({ to: 'group-coordinator', key: this.group })
      throw ledger.doubt(disagreement)
    })
  }

  async commit(deadline: Deadline): Promise<void> {
    await this.#endWithCommit(deadline)
    await this.#offsets.mustHold(deadline, async (offsets) => {
      await this.begin([], deadline)
      await this.sendOffsets(offsets, deadline)
      await this.#endWithCommit(deadline)
    })
  }

  async abort(deadline: Deadline): Promise<void> {
    const { ledger, cluster } = this.#sending
    if (ledger.state !== 'open' && ledger.state !== 'poisoned') return
    const sent = ledger.hasTransmitted
    if (!ledger.abort()) return
    if (!sent) return ledger.end(null)
    await abortTransaction(this.#sending, this.transactionalId, deadline)
    this.#endedAtMs = cluster.clock.now()
  }

  async #endWithCommit(deadline: Deadline): Promise<void> {
    const { ledger, cluster } = this.#sending
    await this.#offsets.mustStand(deadline, (offsets) => ledger.during(() => this.#acknowledge(offsets, deadline)))
    ledger.commit()
    await commitTransaction(this.#sending, this.transactionalId, deadline)
    this.#endedAtMs = cluster.clock.now()
  }

  #acknowledge(offsets: readonly OffsetToCommit[], deadline: Deadline): Promise<NodeAddress> {
    return commitOffsets(this.#sending, this.group, this.transactionalId, offsets, deadline)
  }

  /** Step 9. A question that stays without an answer is no clear yes either. */
  async #disagreement(offsets: readonly OffsetToCommit[], node: NodeAddress, deadline: Deadline) {
    try {
      return await this.#committed.disagreement(offsets, node, deadline)
    } catch (error) {
      const message = `${this.transactionalId}: committed offsets could not be confirmed: ${messageOf(error)}`
      return new RelayError('SESSION_POISONED', message, { cause: error })
    }
  }

  /** P3: offsets of an older session that stay pending. Joining and aborting ends them. */
  async #endPendingOffsets(deadline: Deadline): Promise<void> {
    const { ledger } = this.#sending
    ledger.begin([])
    try {
      await ledger.during(() => addOffsets(this.#sending, this.group, this.transactionalId, deadline))
    } finally {
      await this.abort(deadline)
    }
  }

  #mustHaveRead(partitions: readonly TopicPartition[]): void {
    const unread = partitions.find((partition) => !this.#committed.has(partition))
    if (unread === undefined) return
    throw this.#sending.ledger.broken(`offsets of ${tpKey(unread)} are committed, but were never read in this session`)
  }
}
