import type { Clock, Deadline, Random } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { BrokerClient } from './broker-client.ts'
import type { Answer, Target } from './cluster.ts'
import { classify, kafkaErrorName } from './errors.ts'
import { type AclNames, denied } from './missing-acl.ts'
import { pause } from './pause.ts'
import type { NodeAddress } from './transport.ts'

export type CoordinatorTarget = Extract<Target, { readonly key: string }>

const keyTypes = { 'group-coordinator': 0, 'transaction-coordinator': 1 } as const

/** Where coordinators are, until somebody finds that one has moved. */
export class CoordinatorCache {
  readonly #client: BrokerClient
  readonly #clock: Clock
  readonly #random: Random
  readonly #found = new Map<string, { readonly node: NodeAddress; readonly toldBy: NodeAddress }>()
  /** Brokers whose answer turned out to be wrong: asked last the next time. */
  readonly #misled = new Map<string, NodeAddress>()

  constructor(client: BrokerClient, clock: Clock, random: Random) {
    this.#client = client
    this.#clock = clock
    this.#random = random
  }

  /**
   * Asks again while the coordinator is not available (its internal topic is being made, or moves), within the deadline.
   * @throws RelayError BROKER_UNAVAILABLE, NOT_AUTHORIZED, BROKER_ERROR
   */
  async locate(target: CoordinatorTarget, deadline: Deadline): Promise<NodeAddress> {
    const key = cacheKey(target)
    const cached = this.#found.get(key)
    if (cached !== undefined) return cached.node
    for (;;) {
      const { node: toldBy, body } = await this.#ask(target, deadline)
      const [coordinator] = body.coordinators
      if (coordinator === undefined) throw new RelayError('BROKER_ERROR', `FindCoordinator names none for ${key}`)
      const { verdict } = classify('FindCoordinator', coordinator.errorCode)
      if (verdict === 'ok') {
        const { nodeId, host, port } = coordinator
        const node = { nodeId, host, port }
        this.#found.set(key, { node, toldBy })
        return node
      }
      const error = lookupError(target, coordinator.errorCode)
      if (verdict !== 'wait' && verdict !== 'resend') throw error
      await pause(this.#clock, this.#random, deadline, error)
    }
  }

  forget(target: CoordinatorTarget): void {
    const key = cacheKey(target)
    const found = this.#found.get(key)
    if (found !== undefined) this.#misled.set(key, found.toldBy)
    this.#found.delete(key)
  }

  clear(): void {
    this.#found.clear()
    this.#misled.clear()
  }

  #ask(target: CoordinatorTarget, deadline: Deadline): Promise<Answer<'FindCoordinator'>> {
    const body = { keyType: keyTypes[target.to], coordinatorKeys: [target.key] }
    return this.#client.tryEach('FindCoordinator', deadline, this.#misled.get(cacheKey(target)), (node, soon) =>
      this.#client.send(node, 'FindCoordinator', body, soon),
    )
  }
}

const cacheKey = (target: CoordinatorTarget): string => `${target.to} ${target.key}`

function lookupError(target: CoordinatorTarget, errorCode: number): RelayError {
  const { verdict } = classify('FindCoordinator', errorCode)
  const asked = `FindCoordinator for ${cacheKey(target)}`
  if (verdict === 'denied') return denied(asked, 'FindCoordinator', errorCode, namesOf(target))
  const code = verdict === 'poison' ? 'BROKER_ERROR' : 'BROKER_UNAVAILABLE'
  return new RelayError(code, `${asked}: ${kafkaErrorName(errorCode)}`, {
    context: { ...target, errorCode },
  })
}

const namesOf = ({ to, key }: CoordinatorTarget): AclNames =>
  to === 'group-coordinator' ? { group: key } : { transactionalId: key }
