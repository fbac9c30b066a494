import { Column } from './columns.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type DeliveredRecords, type ExpectedRecords, standing } from './history.ts'
import type { SourceAsk } from './read-source.ts'

class Fingerprints {
  private readonly highs = new Column(Int32Array)
  private readonly lows = new Column(Int32Array)

  protected note({ high, low }: Pick<Fingerprint, 'high' | 'low'>): void {
    this.highs.push(high)
    this.lows.push(low)
  }

  get high(): Int32Array {
    return this.highs.values
  }
  get low(): Int32Array {
    return this.lows.values
  }
}

/** Collects what the source gives. */
export class ExpectedColumns extends Fingerprints implements ExpectedRecords {
  private readonly sources = new Column(Int32Array)
  private readonly offsets = new Column(Float64Array)
  private readonly outputs = new Column(Int32Array)
  private readonly standings = new Column(Uint8Array)

  push(ask: SourceAsk, offset: bigint, output: number, fingerprint: Fingerprint): void {
    this.note(fingerprint)
    this.sources.push(ask.source)
    this.offsets.push(Number(offset))
    this.outputs.push(output)
    this.standings.push(standingOf(ask, offset))
  }

  get source(): Int32Array {
    return this.sources.values
  }
  get offset(): Float64Array {
    return this.offsets.values
  }
  get output(): Int32Array {
    return this.outputs.values
  }
  get standing(): Uint8Array {
    return this.standings.values
  }
}

function standingOf({ committed, committedAfter }: SourceAsk, offset: bigint): number {
  if (offset < committed) return standing.required
  return offset < committedAfter ? standing.allowed : standing.ahead
}

/** Collects what readers see of one output partition. */
export class DeliveredColumns extends Fingerprints implements DeliveredRecords {
  private readonly offsets = new Column(Float64Array)
  private readonly transactions = new Column(Int32Array)

  push(offset: bigint, transaction: number, fingerprint: Fingerprint): void {
    this.note(fingerprint)
    this.offsets.push(Number(offset))
    this.transactions.push(transaction)
  }

  get offset(): Float64Array {
    return this.offsets.values
  }
  get transaction(): Int32Array {
    return this.transactions.values
  }
}
