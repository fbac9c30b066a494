import { RelayError } from '../../errors.ts'

/** Each relay's name belongs to one module: two with one name would take each other's lanes. */
export class RelayNames {
  readonly #byModule = new Map<string, string>()

  /** The module's name from now on. @throws RelayError CONFIG_INVALID when another module has it */
  claim(module: string, name: string): void {
    const other = [...this.#byModule].find(([path, taken]) => taken === name && path !== module)
    if (other) {
      throw new RelayError(
        'CONFIG_INVALID',
        `${other[0]} and ${module} are both relays named '${name}': give each a name of its own`,
      )
    }
    this.#byModule.set(module, name)
  }
}
