import { type Api, apis, type RequestOf, type ResponseOf } from './generated/index.ts'
import { MalformedMessage, Reader } from './reader.ts'
import { lengthOf, Writer } from './writer.ts'

const LENGTH_BYTES = 4
/** Above any fetch answer, and below what the first bytes of TLS or HTTP give when they are read as a length. */
const FRAME_BYTES_MAX = 256 * 1024 * 1024

export interface RequestFrame<A extends Api> {
  readonly api: A
  readonly version: number
  readonly correlationId: number
  readonly clientId: string
  readonly body: RequestOf<A>
}

/**
 * Length, header (version 2 for flexible messages, else 1) and body, as chunks to write in order. Large byte fields of
 * the body are not copied.
 */
export function encodeRequestFrame<A extends Api>(frame: RequestFrame<A>): Buffer[] {
  const codec = apis[frame.api]
  const writer = new Writer()
  writer.int32(0)
  writer.int16(codec.key)
  writer.int16(frame.version)
  writer.int32(frame.correlationId)
  writer.nullableString(frame.clientId)
  if (codec.flexible) writer.tags()
  codec.encodeRequest(frame.body, writer, frame.version)
  const chunks = writer.finish()
  chunks[0]?.writeInt32BE(lengthOf(chunks) - LENGTH_BYTES, 0)
  return chunks
}

export const correlationIdOf = (frame: Buffer): number => new Reader(frame).int32()

/** `frame` without its length. Header version 1 for flexible messages; ApiVersions has version 0 always (KIP-511). */
export function decodeResponseFrame<A extends Api>(api: A, version: number, frame: Buffer): ResponseOf<A> {
  const codec = apis[api]
  const reader = new Reader(frame)
  reader.int32()
  if (codec.flexible && api !== 'ApiVersions') reader.tags()
  const body = codec.decodeResponse(reader, version)
  reader.end()
  return body
}

/** Cuts a byte stream into frames, each in a buffer of its own. */
export class FrameSplitter {
  readonly #length = Buffer.allocUnsafe(LENGTH_BYTES)
  #lengthBytes = 0
  #frame: Buffer | undefined
  #filled = 0

  /** What is missing of the frame under way: whoever reads the next bytes right into it saves their copy. */
  get room(): Buffer | undefined {
    return this.#frame?.subarray(this.#filled)
  }

  /**
   * Takes the next bytes of the stream, which may be used anew afterwards unless they stand in `room`.
   * @throws MalformedMessage when the other side does not speak Kafka's protocol.
   */
  push(chunk: Buffer, onFrame: (frame: Buffer) => void): void {
    let rest = chunk
    while (rest.length > 0)
      rest = this.#frame === undefined ? this.#readLength(rest) : this.#fill(rest, this.#frame, onFrame)
  }

  #readLength(chunk: Buffer): Buffer {
    const copied = chunk.copy(this.#length, this.#lengthBytes)
    this.#lengthBytes += copied
    if (this.#lengthBytes === LENGTH_BYTES) {
      this.#lengthBytes = 0
      this.#frame = Buffer.allocUnsafeSlow(checkedLength(this.#length.readInt32BE(0)))
      this.#filled = 0
    }
    return chunk.subarray(copied)
  }

  #fill(chunk: Buffer, frame: Buffer, onFrame: (frame: Buffer) => void): Buffer {
    const isInPlace = chunk.buffer === frame.buffer
    const taken = isInPlace ? chunk.length : chunk.copy(frame, this.#filled)
    this.#filled += taken
    if (this.#filled === frame.length) {
      this.#frame = undefined
      onFrame(frame)
    }
    return chunk.subarray(taken)
  }
}

function checkedLength(length: number): number {
  if (length >= LENGTH_BYTES && length <= FRAME_BYTES_MAX) return length
  throw new MalformedMessage(
    `malformed message: a frame of ${length} bytes, at most ${FRAME_BYTES_MAX}; does the listener speak TLS or another protocol?`,
  )
}
