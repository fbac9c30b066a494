import type { SecretReference } from './secret-reference.ts'
import type { SecretStore } from './secret-store.ts'

/** Secrets of one container: each is read once and kept, until somebody says that it does not work any more. */
export interface Secrets {
  /** @throws RelayError SECRET_UNREADABLE */
  read(reference: SecretReference): Promise<string>
  /**
   * `refused` did not work: what the store has now, read once for all that ask at the same time. Null: the same still.
   * @throws RelayError SECRET_UNREADABLE
   */
  readAnew(reference: SecretReference, refused: string): Promise<string | null>
}

export function cachedSecrets(store: SecretStore): Secrets {
  return new CachedSecrets(store)
}

class CachedSecrets implements Secrets {
  readonly #store: SecretStore
  readonly #known = new Map<string, Promise<string>>()

  constructor(store: SecretStore) {
    this.#store = store
  }

  read(reference: SecretReference): Promise<string> {
    return this.#known.get(reference.text) ?? this.#ask(reference)
  }

  async readAnew(reference: SecretReference, refused: string): Promise<string | null> {
    const known = this.read(reference)
    if ((await known) !== refused) return known
    const latest = this.#known.get(reference.text)
    const now = await (latest && latest !== known ? latest : this.#ask(reference)) // another has asked meanwhile, or not
    return now === refused ? null : now
  }

  /** An answer that does not come leaves what was known. */
  #ask({ text, ...reference }: SecretReference): Promise<string> {
    const before = this.#known.get(text)
    const asking = this.#store.read({ text, ...reference })
    this.#known.set(text, asking)
    asking.catch(() => {
      if (before) this.#known.set(text, before)
      else this.#known.delete(text)
    })
    return asking
  }
}
