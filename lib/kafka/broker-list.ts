import type { Random } from '../clock.ts'
import { nodeKey } from './connection-config.ts'
import type { NodeAddress } from './transport.ts'

/** The brokers of a cluster, as its metadata last named them, and the addresses to begin with. */
export class BrokerList {
  readonly #bootstrap: readonly NodeAddress[]
  readonly #random: Random
  readonly #failed = new Set<string>()
  #known: readonly NodeAddress[] = []

  constructor(bootstrap: readonly NodeAddress[], random: Random) {
    this.#bootstrap = bootstrap
    this.#random = random
  }

  get known(): readonly NodeAddress[] {
    return this.#known
  }

  replace(nodes: readonly NodeAddress[]): void {
    this.#known = nodes
  }

  byId(nodeId: number): NodeAddress | null {
    return this.#known.find((node) => node.nodeId === nodeId) ?? null
  }

  noteFailure(node: NodeAddress): void {
    this.#failed.add(nodeKey(node))
  }

  noteAnswer(node: NodeAddress): void {
    this.#failed.delete(nodeKey(node))
  }

  /**
   * Whom to ask, in this order: brokers at random, then the bootstrap addresses, then those that failed when last asked,
   * and `last` at the very end. Never empty; each address once.
   */
  candidates(last?: NodeAddress): readonly NodeAddress[] {
    const ordered = [...this.#shuffled(this.#known), ...this.#bootstrap]
    const rank = (node: NodeAddress) =>
      (last !== undefined && nodeKey(node) === nodeKey(last) ? 2 : 0) + (this.#failed.has(nodeKey(node)) ? 1 : 0)
    const unique = new Map(ordered.toReversed().map((node) => [nodeKey(node), node]))
    return ordered.filter((node) => unique.get(nodeKey(node)) === node).sort((a, b) => rank(a) - rank(b))
  }

  #shuffled(nodes: readonly NodeAddress[]): NodeAddress[] {
    const keyed = nodes.map((node) => ({ node, at: this.#random.fraction() }))
    return keyed.sort((a, b) => a.at - b.at).map(({ node }) => node)
  }
}
