import { type Deadline, type Random, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { type CommittedAnswer, fetchCommitted } from '../kafka/committed.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import { pauses } from './pause.ts'
import type { CommittedOffset, OffsetToCommit } from './session.ts'

/**
 * How long an offset may stay unstable after the barrier before something is done about it. The classic group
 * coordinator brings its cache up to date some milliseconds after the marker; a late TxnOffsetCommit stays for ever (P3).
 */
const SETTLING_MS = 2_000

/** What a session was told about its group's offsets, and whether the broker that acknowledges them agreed. */
export class CommittedView {
  readonly #cluster: Cluster
  readonly #random: Random
  readonly #group: string
  readonly #told = new Map<string, CommittedOffset>()
  readonly #confirmed = new Set<string>()

  constructor(cluster: Cluster, random: Random, group: string) {
    this.#cluster = cluster
    this.#random = random
    this.#group = group
  }

  has(partition: TopicPartition): boolean {
    return this.#told.has(tpKey(partition))
  }

  /**
   * Step 3: OffsetFetch with require_stable, asked again while unstable. `endPending` is called once when 88 outlasts the
   * barrier (P3).
   * @throws RelayError BROKER_ERROR when it stays unstable, BROKER_UNAVAILABLE, NOT_AUTHORIZED
   */
  async read(
    partitions: readonly TopicPartition[],
    deadline: Deadline,
    endPending: () => Promise<void>,
  ): Promise<readonly CommittedOffset[]> {
    const settled = sooner(this.#cluster.clock, deadline, Math.min(SETTLING_MS, deadline.remainingMs() / 2))
    const first = await this.#untilStable(partitions, settled, deadline)
    if (first !== null) return this.#remember(first)
    await endPending()
    const second = await this.#untilStable(partitions, sooner(this.#cluster.clock, deadline, SETTLING_MS), deadline)
    if (second !== null) return this.#remember(second)
    throw this.#unstable(partitions)
  }

  /** What `node` itself says, pending offsets left aside: one question, to exactly this broker. */
  async ask(
    partitions: readonly TopicPartition[],
    node: NodeAddress,
    deadline: Deadline,
  ): Promise<readonly CommittedOffset[]> {
    const question = { group: this.#group, partitions, requireStable: false, node }
    const stable = stableOf(await fetchCommitted(this.#cluster, question, deadline))
    if (stable === null) throw this.#unstable(partitions)
    return stable
  }

  /**
   * Step 9: null when the broker that acknowledged our offsets says what step 3 was told, "none" included. Asked once per
   * partition and session: while the session is not fenced, nobody else moves them by the lane's id.
   */
  async disagreement(
    offsets: readonly OffsetToCommit[],
    node: NodeAddress,
    deadline: Deadline,
  ): Promise<RelayError | null> {
    const open = offsets.filter((offset) => !this.#confirmed.has(tpKey(offset)))
    if (open.length === 0) return null
    const answers = await this.ask(open, node, deadline)
    const different = answers.find((answer) => !same(answer, this.#told.get(tpKey(answer))))
    if (different !== undefined) return this.#disagree(different, node)
    for (const offset of open) this.#confirmed.add(tpKey(offset))
    return null
  }

  /** Whether offsets of an open transaction wait at `node` for every partition. */
  async arePending(partitions: readonly TopicPartition[], node: NodeAddress, deadline: Deadline): Promise<boolean> {
    const question = { group: this.#group, partitions, requireStable: true, node }
    const answers = await fetchCommitted(this.#cluster, question, deadline)
    return answers.every((answer) => 'unstable' in answer)
  }

  /** Whether the offsets of a transaction that was committed are; null when nobody could tell within the deadline. */
  async areCommitted(offsets: readonly OffsetToCommit[], deadline: Deadline): Promise<boolean | null> {
    const settled = sooner(this.#cluster.clock, deadline, SETTLING_MS)
    const answers = await this.#untilStable(offsets, settled, settled).catch(() => null)
    if (answers === null) return null
    return answers.every((answer, index) => answer.offset === offsets[index]?.offset)
  }

  /** What a transaction commits that is going to be aborted anyway. */
  unchanged(partitions: readonly TopicPartition[]): OffsetToCommit[] {
    return partitions.map(({ topic, partition }) => {
      const told = this.#told.get(tpKey({ topic, partition }))
      return { topic, partition, offset: told?.offset ?? 0n, leaderEpoch: -1, metadata: told?.metadata ?? '' }
    })
  }

  /** Null while something is unstable when `settled` ends. */
  async #untilStable(partitions: readonly TopicPartition[], settled: Deadline, deadline: Deadline) {
    const pause = pauses(this.#cluster.clock, this.#random)
    for (;;) {
      const question = { group: this.#group, partitions, requireStable: true }
      const stable = stableOf(await fetchCommitted(this.#cluster, question, deadline))
      if (stable !== null) return stable
      if (!(await pause(settled))) return null
    }
  }

  #remember(answers: readonly CommittedOffset[]): readonly CommittedOffset[] {
    for (const answer of answers) {
      this.#told.set(tpKey(answer), answer)
      this.#confirmed.delete(tpKey(answer))
    }
    return answers
  }

  #disagree(answer: CommittedOffset, node: NodeAddress): RelayError {
    const told = this.#told.get(tpKey(answer))
    const message = `committed offset of ${tpKey(answer)} in ${this.#group} was read as ${text(told)}, but broker ${node.nodeId}, which takes the offsets, has ${text(answer)}; the coordinator is looked up anew`
    const context = { group: this.#group, node: node.nodeId, read: text(told), found: text(answer) }
    return new RelayError('OFFSETS_DISAGREE', message, { context })
  }

  #unstable(partitions: readonly TopicPartition[]): RelayError {
    const where = partitions.map(tpKey).join(', ')
    return new RelayError(
      'BROKER_ERROR',
      `offsets of ${where} in ${this.#group} stay unstable (88): a transaction that is not of this lane holds them open; find and end it with fencepost abort-hanging --topic __consumer_offsets`,
      { context: { group: this.#group, partitions: partitions.map(tpKey) } },
    )
  }
}

/** Null when any partition is unstable. @throws the first error among them */
function stableOf(answers: readonly CommittedAnswer[]): readonly CommittedOffset[] | null {
  const stable: CommittedOffset[] = []
  let unstable = false
  for (const answer of answers) {
    if ('error' in answer) throw answer.error
    if ('unstable' in answer) unstable = true
    else
      stable.push({
        topic: answer.topic,
        partition: answer.partition,
        offset: answer.offset,
        metadata: answer.metadata,
      })
  }
  return unstable ? null : stable
}

const same = (one: CommittedOffset, other: CommittedOffset | undefined): boolean =>
  one.offset === other?.offset && one.metadata === other?.metadata

const text = (committed: CommittedOffset | undefined): string =>
  committed === undefined || committed.offset === null ? 'none' : String(committed.offset)
