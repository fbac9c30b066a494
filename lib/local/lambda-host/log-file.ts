import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const tailBytes = 4096

/**
 * The log of one container: its process appends what it prints, the host appends Lambda's lines. Both write at once
 * and synchronously, so that whatever a frozen or dead process has printed is there.
 */
export class LogFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  get bytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
  }

  append(line: string): void {
    appendFileSync(this.path, `${line}\n`)
  }

  /** The last 4 KB of what was written from byte `from` on. */
  tail(from: number): string {
    const file = openSync(this.path, 'r')
    try {
      const end = fstatSync(file).size
      const start = Math.max(from, end - tailBytes)
      const buffer = Buffer.alloc(end - start)
      return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, start))
    } finally {
      closeSync(file)
    }
  }
}
