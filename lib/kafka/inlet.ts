import type { OnReadOpts } from 'node:net'

/** Takes the bytes that a socket reads. */
export interface Inlet {
  /** Where the next ones are wanted; undefined when it does not matter. */
  readonly room: Buffer | undefined
  /** They stand in `room`, or where others will be read into afterwards. */
  push(bytes: Buffer): void
}

const SCRATCH_BYTES = 16 * 1024

/**
 * Reads a socket into buffers that its user provides instead of a new one of 64 KiB at each read: fetched batches go
 * straight to where they are decoded, and the garbage collector has half as much to do.
 */
export class InletSwitch {
  #inlet: Inlet = { room: undefined, push: () => undefined }
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

  /** For `net.connect` and `tls.connect`. The socket has no 'data' events then. */
  readonly onRead: OnReadOpts = {
    buffer: () => this.#inlet.room ?? this.#scratch,
    callback: (bytesWritten, { buffer, byteOffset }) => {
      this.#inlet.push(Buffer.from(buffer, byteOffset, bytesWritten))
      return true
    },
  }

  turnTo(inlet: Inlet): void {
    this.#inlet = inlet
  }
}
