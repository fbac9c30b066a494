import { type Clock, deadlineIn } from '../../clock.ts'
import { isRelayError, RelayError } from '../../errors.ts'
import type { Cluster, Target } from '../../kafka/cluster.ts'
import { kafkaErrorName } from '../../kafka/errors.ts'
import type { Api, RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { JoinGroupResponse } from '../../kafka/protocol/generated/join-group.ts'
import { TransportError } from '../../kafka/transport.ts'
import {
  assignmentProtocol,
  assignPartitions,
  decodeAssignment,
  encodeAssignment,
  encodeSubscription,
} from './group-protocol.ts'

/** What one generation of the group gave this member. */
export interface Membership {
  readonly memberId: string
  readonly generation: number
  readonly partitions: readonly number[]
  readonly isLeader: boolean
  /** Partitions of the topic when the leader assigned them; only the leader knows. */
  readonly partitionCount: number
}

export interface GroupMemberOptions {
  readonly group: string
  readonly topic: string
  readonly sessionTimeoutMs: number
}

type Standing = 'member' | 'rejoin'

const codes = {
  loading: 14,
  notAvailable: 15,
  notCoordinator: 16,
  illegalGeneration: 22,
  unknownMember: 25,
  rebalancing: 27,
  memberIdRequired: 79,
} as const
const coordinatorMoved: readonly number[] = [codes.loading, codes.notAvailable, codes.notCoordinator]
const generationOver: readonly number[] = [codes.illegalGeneration, codes.unknownMember, codes.rebalancing]
const requestTimeoutMs = 5_000
const pauseMs = 200

/**
 * One member of a classic consumer group, eager rebalancing, as the clients of Kafka up to 4.x are by default. It needs
 * connections of its own: a broker holds JoinGroup back until all members have come, and everything behind it with it.
 */
export class GroupMember {
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #options: GroupMemberOptions
  readonly #coordinator: Target
  #memberId = ''
  #membership: Membership | null = null

  constructor(cluster: Cluster, options: GroupMemberOptions) {
    this.#cluster = cluster
    this.#clock = cluster.clock
    this.#options = options
    this.#coordinator = { to: 'group-coordinator', key: options.group }
  }

  /** Tries until it is in a generation of the group. @throws RelayError LOCAL_STACK when the group refuses it; the signal's reason */
  async join(signal: AbortSignal): Promise<Membership> {
    for (;;) {
      signal.throwIfAborted()
      const joined = await this.#joinGroup()
      const membership = joined && (await this.#syncGroup(joined))
      if (membership) {
        this.#membership = membership
        return membership
      }
      await this.#clock.sleep(joined === null ? pauseMs : 0, signal)
    }
  }

  async heartbeat(): Promise<Standing> {
    if (this.#membership === null) return 'rejoin'
    const { memberId, generation: generationId } = this.#membership
    const answer = await this.#ask('Heartbeat', { groupId: this.#options.group, generationId, memberId })
    return answer === null || !this.#isOver(answer.errorCode) ? 'member' : 'rejoin'
  }

  /** 'rejoin': nothing is committed, the generation is over. 'member': all is. @throws RelayError BROKER_UNAVAILABLE to try again */
  async commit(offsets: ReadonlyMap<number, bigint>): Promise<Standing> {
    if (this.#membership === null) return 'rejoin'
    const { memberId, generation } = this.#membership
    const partitions = [...offsets].map(([partitionIndex, committedOffset]) => ({
      partitionIndex,
      committedOffset,
      committedMetadata: '',
    }))
    const topics = [{ name: this.#options.topic, partitions }]
    const request = { groupId: this.#options.group, generationIdOrMemberEpoch: generation, memberId, topics }
    const answer = await this.#ask('OffsetCommit', request)
    const code = answer?.topics[0]?.partitions.find(({ errorCode }) => errorCode !== 0)?.errorCode ?? 0
    if (answer === null)
      throw new RelayError('BROKER_UNAVAILABLE', `the coordinator of ${this.#options.group} did not take a commit`)
    return this.#isOver(code) ? 'rejoin' : 'member'
  }

  /** So that the others need not wait for the session to time out. Never throws. */
  async leave(): Promise<void> {
    if (this.#membership === null) return
    const { memberId } = this.#membership
    this.#membership = null
    await this.#ask('LeaveGroup', { groupId: this.#options.group, members: [{ memberId }] }).catch(() => null)
  }

  /** null: not now, try again. */
  async #joinGroup(): Promise<JoinGroupResponse | null> {
    const { group: groupId, topic, sessionTimeoutMs } = this.#options
    this.#membership = null
    const protocols = [{ name: assignmentProtocol, metadata: encodeSubscription(topic) }]
    const request = {
      groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs: sessionTimeoutMs,
      memberId: this.#memberId,
      protocolType: 'consumer',
      protocols,
    }
    const answer = await this.#ask('JoinGroup', request, 2 * sessionTimeoutMs)
    if (answer === null) return null
    if (answer.errorCode === codes.memberIdRequired) {
      this.#memberId = answer.memberId
      return this.#joinGroup()
    }
    if (this.#isOver(answer.errorCode)) return null
    this.#memberId = answer.memberId
    return answer
  }

  /** null: the generation was over before it began. */
  async #syncGroup(joined: JoinGroupResponse): Promise<Membership | null> {
    const { group: groupId, topic } = this.#options
    const { memberId, generationId: generation, protocolName } = joined
    const isLeader = joined.leader === memberId
    const partitionCount = isLeader ? await this.partitionCount() : 0
    const shares = assignPartitions(isLeader ? joined.members.map((member) => member.memberId) : [], partitionCount)
    const assignments = [...shares].map(([id, partitions]) => ({
      memberId: id,
      assignment: encodeAssignment(topic, partitions),
    }))
    const request = { groupId, generationId: generation, memberId, protocolType: 'consumer', protocolName, assignments }
    const answer = await this.#ask('SyncGroup', request, 2 * this.#options.sessionTimeoutMs)
    if (answer === null || this.#isOver(answer.errorCode)) return null
    return { memberId, generation, partitions: decodeAssignment(answer.assignment, topic), isLeader, partitionCount }
  }

  /** As a broker sees it now. @throws RelayError TOPIC_MISSING */
  async partitionCount(): Promise<number> {
    const { topic } = this.#options
    const topics = await this.#cluster.topics([topic], deadlineIn(this.#clock, requestTimeoutMs), 'fresh')
    const found = topics.get(topic)
    if (!found)
      throw new RelayError('TOPIC_MISSING', `The topic ${topic} of the event source mapping does not exist; create it.`)
    return found.partitions.length
  }

  /** @throws RelayError LOCAL_STACK for a code that no waiting heals */
  #isOver(code: number): boolean {
    if (code === 0) return false
    if (code === codes.unknownMember) this.#memberId = ''
    if (generationOver.includes(code)) return true
    throw new RelayError(
      'LOCAL_STACK',
      `The consumer group ${this.#options.group} answers ${kafkaErrorName(code)}; give the mapping a group of its own and the rights to use it.`,
    )
  }

  /** null: the coordinator did not answer or has moved; it is looked up anew the next time. */
  async #ask<A extends 'JoinGroup' | 'SyncGroup' | 'Heartbeat' | 'LeaveGroup' | 'OffsetCommit'>(
    api: A,
    body: RequestOf<A>,
    timeoutMs: number = requestTimeoutMs,
  ): Promise<ResponseOf<A> | null> {
    try {
      const answer = await this.#cluster.request(this.#coordinator, api, body, deadlineIn(this.#clock, timeoutMs))
      if (!coordinatorMoved.includes(codeOf(answer.body))) return answer.body
    } catch (error) {
      const isSilence = error instanceof TransportError || (isRelayError(error) && error.code === 'BROKER_UNAVAILABLE')
      if (!isSilence) throw error
    }
    this.#cluster.forget(this.#coordinator)
    return null
  }
}

function codeOf(body: ResponseOf<Api>): number {
  if ('errorCode' in body) return Number(body.errorCode)
  if (!('topics' in body)) return 0
  const [topic] = body.topics as ResponseOf<'OffsetCommit'>['topics']
  return topic?.partitions[0]?.errorCode ?? 0
}
