import type { Header, KafkaRecord } from '../record.ts'

/** What the batch header says about all of its records. */
export interface RecordContext {
  readonly topic: string
  readonly partition: number
  readonly baseOffset: bigint
  readonly recordCount: number
  readonly timestampType: KafkaRecord['timestampType']
  readonly baseTimestampMs: number
  readonly maxTimestampMs: number
}

/** Where a record's parts lie in the bytes of its batch; a length of -1 is null. */
export interface RecordPlaces {
  readonly timestampDelta: number
  readonly offsetDelta: number
  readonly keyEnd: number
  readonly keyBytes: number
  readonly valueEnd: number
  readonly valueBytes: number
  readonly headers: readonly Header[]
}

/** The record whose key was cut last: decoder and encoder both ask for it before they come to the next record. */
let keyed: LogRecord | null = null
let keyOfKeyed: Buffer | null = null

/**
 * A record as a view of its batch. Key and value are cut out whenever they are asked for and live as briefly as who asked:
 * thousands of records wait in each window, and waiting must cost little memory. Everything was checked when it was read.
 */
export class LogRecord implements KafkaRecord {
  readonly headers: readonly Header[]
  private readonly context: RecordContext
  private readonly bytes: Buffer
  private readonly timestampDelta: number
  private readonly offsetDelta: number
  private readonly keyEnd: number
  private readonly keyBytes: number
  private readonly valueEnd: number
  private readonly valueBytes: number

  constructor(context: RecordContext, bytes: Buffer, places: RecordPlaces) {
    this.context = context
    this.bytes = bytes
    this.timestampDelta = places.timestampDelta
    this.offsetDelta = places.offsetDelta
    this.keyEnd = places.keyEnd
    this.keyBytes = places.keyBytes
    this.valueEnd = places.valueEnd
    this.valueBytes = places.valueBytes
    this.headers = places.headers
  }

  get topic(): string {
    return this.context.topic
  }

  get partition(): number {
    return this.context.partition
  }

  get offset(): bigint {
    return this.context.baseOffset + BigInt(this.offsetDelta)
  }

  get timestampMs(): number {
    const { timestampType, baseTimestampMs, maxTimestampMs } = this.context
    return timestampType === 'CreateTime' ? baseTimestampMs + this.timestampDelta : maxTimestampMs
  }

  get timestampType(): KafkaRecord['timestampType'] {
    return this.context.timestampType
  }

  get key(): Buffer | null {
    if (keyed === this) return keyOfKeyed
    keyed = this
    keyOfKeyed = this.keyBytes < 0 ? null : this.bytes.subarray(this.keyEnd - this.keyBytes, this.keyEnd)
    return keyOfKeyed
  }

  get value(): Buffer | null {
    return this.valueBytes < 0 ? null : this.bytes.subarray(this.valueEnd - this.valueBytes, this.valueEnd)
  }
}
