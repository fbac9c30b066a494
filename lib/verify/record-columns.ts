import { Column } from './columns.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type DeliveredRecords, type ExpectedRecords, standing } from './history.ts'
import type { SourceAsk } from './read-source.ts'

/** Collects what the source gives. */
export class ExpectedColumns {
  private readonly high = new Column(Int32Array)
  private readonly low = new Column(Int32Array)
  private readonly source = new Column(Int32Array)
  private readonly offset = new Column(Float64Array)
  private readonly output = new Column(Int32Array)
  private readonly standing = new Column(Uint8Array)

  push(ask: SourceAsk, offset: bigint, output: number, { high, low }: Fingerprint): void {
    this.high.push(high)
    this.low.push(low)
    this.source.push(ask.source)
    this.offset.push(Number(offset))
    this.output.push(output)
    this.standing.push(standingOf(ask, offset))
  }

  /** What was pushed so far, not copied. */
  get records(): ExpectedRecords {
    return {
      high: this.high.values,
      low: this.low.values,
      source: this.source.values,
      offset: this.offset.values,
      output: this.output.values,
      standing: this.standing.values,
    }
  }
}

function standingOf({ committed, committedAfter }: SourceAsk, offset: bigint): number {
  if (offset < committed) return standing.required
  return offset < committedAfter ? standing.allowed : standing.ahead
}

/** Collects what readers see of one output partition. */
export class DeliveredColumns {
  private readonly high = new Column(Int32Array)
  private readonly low = new Column(Int32Array)
  private readonly offset = new Column(Float64Array)
  private readonly transaction = new Column(Int32Array)

  push(offset: bigint, transaction: number, { high, low }: Fingerprint): void {
    this.high.push(high)
    this.low.push(low)
    this.offset.push(Number(offset))
    this.transaction.push(transaction)
  }

  /** What was pushed so far, not copied. */
  get records(): DeliveredRecords {
    return {
      high: this.high.values,
      low: this.low.values,
      offset: this.offset.values,
      transaction: this.transaction.values,
    }
  }
}
