import type { SecretReference } from './secret-reference.ts'

/** Where secrets are read from: AWS in a deployment. */
export interface SecretStore {
  /**
   * The text of a secret as it is now; nothing is cached.
   * @throws RelayError SECRET_UNREADABLE: disposition `fix-config` when it is missing or may not be read, else `retry`
   */
  read(reference: SecretReference): Promise<string>
}
