import type { Clock } from '../clock.ts'

/** Tells somebody who waits how far the reading is. */
export type OnProgress = (progress: { readonly phase: 'outputs' | 'source'; readonly records: number }) => void

const tellEveryMs = 500

export class Progress {
  private readonly clock: Clock
  private readonly tell: OnProgress
  private phase: 'outputs' | 'source' = 'outputs'
  private records = 0
  private toldAtMs: number

  constructor(clock: Clock, tell: OnProgress) {
    this.clock = clock
    this.tell = tell
    this.toldAtMs = clock.now()
  }

  begin(phase: 'outputs' | 'source'): void {
    this.phase = phase
    this.records = 0
  }

  read(records: number): void {
    this.records += records
    const nowMs = this.clock.now()
    if (nowMs - this.toldAtMs < tellEveryMs) return
    this.toldAtMs = nowMs
    this.tell({ phase: this.phase, records: this.records })
  }
}
