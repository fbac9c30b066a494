import type { KafkaRecord } from '../kafka/record.ts'
import type { ExpectedRecords } from './history.ts'
import type { Identity } from './identity.ts'
import type { Expecting, SourceAsk } from './read-source.ts'
import { ExpectedColumns } from './record-columns.ts'

/**
 * Expects the id of each source record once, in any output, dead letters included. For relays that give one output for each
 * record; a filter or a fan-out would be told as losses or duplicates.
 */
export function expectIds(identity: Identity, sinceMs: number | null): Expecting {
  return new IdExpectation(identity, sinceMs)
}

class IdExpectation implements Expecting {
  readonly notReproduced = 0
  private readonly columns = new ExpectedColumns()
  private readonly identity: Identity
  private readonly sinceMs: number | null

  constructor(identity: Identity, sinceMs: number | null) {
    this.identity = identity
    this.sinceMs = sinceMs
  }

  get expected(): ExpectedRecords {
    return this.columns.records
  }

  async take(ask: SourceAsk, records: readonly KafkaRecord[]): Promise<void> {
    for (const record of records) {
      if (this.sinceMs !== null && record.timestampMs < this.sinceMs) continue
      const fingerprint = this.identity.of(record.topic, -1, record)
      if (fingerprint) this.columns.push(ask, record.offset, -1, fingerprint)
    }
  }
}
