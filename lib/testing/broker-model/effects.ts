import type { TopicPartition } from '../../kafka/record.ts'

/** What brokers do after they have answered. */
export type Effect =
  | { readonly kind: 'marker'; readonly transactionalId: string; readonly partition: TopicPartition }
  | { readonly kind: 'complete'; readonly transactionalId: string }
  /** The older group coordinator (3.x) only: a marker's offsets become readable some milliseconds after it is written. */
  | { readonly kind: 'offsets'; readonly partition: TopicPartition }

/**
 * Decides when the brokers' own work is done. Any order is one that real brokers may show, except that a `complete`
 * is only handed over when every marker of its transaction is written.
 */
export interface EffectScheduler {
  schedule(effect: Effect, run: () => void): void
}

/** Right after the answer to which it belongs. */
export const soon: EffectScheduler = {
  schedule: (_effect, run) => queueMicrotask(run),
}

/** Holds effects back until they are asked for. */
export class HeldEffects implements EffectScheduler {
  private held: { readonly effect: Effect; readonly run: () => void }[] = []

  get waiting(): readonly Effect[] {
    return this.held.map(({ effect }) => effect)
  }

  schedule(effect: Effect, run: () => void): void {
    this.held.push({ effect, run })
  }

  /** Lets the effects that are wanted happen now, and those that follow from them. Answers how many. */
  release(isWanted: (effect: Effect) => boolean = () => true): number {
    let released = 0
    for (let next = this.take(isWanted); next !== null; next = this.take(isWanted)) {
      next()
      released++
    }
    return released
  }

  private take(isWanted: (effect: Effect) => boolean): (() => void) | null {
    const index = this.held.findIndex(({ effect }) => isWanted(effect))
    return index === -1 ? null : (this.held.splice(index, 1)[0]?.run ?? null)
  }
}
