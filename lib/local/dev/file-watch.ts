import { type FSWatcher, watch } from 'node:fs'
import { dirname, join } from 'node:path'

/** Tells when one of some files is written, made anew or removed. Watches their folders: editors replace files. */
export class FileWatch {
  readonly #onChange: (file: string) => void
  readonly #folders = new Map<string, FSWatcher>()
  #files: ReadonlySet<string> = new Set()

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange
  }

  /** From now on these files (absolute paths), and those alone. */
  follow(files: readonly string[]): void {
    this.#files = new Set(files)
    const folders = new Set(files.map((file) => dirname(file)))
    for (const folder of [...this.#folders.keys()].filter((one) => !folders.has(one))) this.#forget(folder)
    for (const folder of [...folders].filter((one) => !this.#folders.has(one))) this.#follow(folder)
  }

  close(): void {
    for (const folder of [...this.#folders.keys()]) this.#forget(folder)
  }

  #follow(folder: string): void {
    const watcher = watch(folder, (_event, name) => {
      const file = name === null ? folder : join(folder, name)
      if (name === null || this.#files.has(file)) this.#onChange(file)
    })
    watcher.on('error', () => this.#forget(folder)) // the folder itself is gone
    this.#folders.set(folder, watcher)
  }

  #forget(folder: string): void {
    this.#folders.get(folder)?.close()
    this.#folders.delete(folder)
  }
}
