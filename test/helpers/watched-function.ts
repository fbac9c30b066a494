import type { KafkaEvent } from '../../lib/lambda/event.ts'
import type { InvokeResult } from '../../lib/local/lambda-host/invoke-result.ts'

const report = {
  requestId: 'test',
  containerId: 'test',
  cold: false,
  initDurationMs: null,
  durationMs: 1,
  billedDurationMs: 1,
  maxMemoryUsedBytes: 0,
  logTail: '',
}

export const succeeded = (payload: unknown = null): InvokeResult => ({
  status: 'success',
  statusCode: 200,
  payload,
  ...report,
})

export const failed = (errorMessage: string): InvokeResult => ({
  status: 'error',
  statusCode: 200,
  functionError: 'Unhandled',
  payload: { errorType: 'Error', errorMessage, trace: [] },
  ...report,
})

export interface Call {
  readonly event: KafkaEvent
  /** `partition@offset` of each record, in the order of the event. */
  readonly records: readonly string[]
  readonly startedAtMs: number
  endedAtMs: number | null
}

/** A function in this process that notes each call; `answer` may wait, fail, or throw. */
export class WatchedFunction {
  readonly calls: Call[] = []
  #waiting: (() => void)[] = []
  readonly #answer: (event: KafkaEvent, nth: number) => InvokeResult | Promise<InvokeResult>

  constructor(answer: (event: KafkaEvent, nth: number) => InvokeResult | Promise<InvokeResult> = () => succeeded()) {
    this.#answer = answer
  }

  readonly invoke = async (event: unknown): Promise<InvokeResult> => {
    const kafkaEvent = event as KafkaEvent
    const call: Call = { event: kafkaEvent, records: placesOf(kafkaEvent), startedAtMs: Date.now(), endedAtMs: null }
    const nth = this.calls.push(call)
    this.#wake()
    try {
      return await this.#answer(kafkaEvent, nth)
    } finally {
      call.endedAtMs = Date.now()
      this.#wake()
    }
  }

  get ended(): readonly Call[] {
    return this.calls.filter(({ endedAtMs }) => endedAtMs !== null)
  }

  /** Every place that was delivered, repetitions included. */
  get delivered(): readonly string[] {
    return this.calls.flatMap(({ records }) => records)
  }

  /** Resolves as soon as it holds; looked at whenever a call begins or ends. */
  async until(holds: (calls: readonly Call[]) => boolean): Promise<void> {
    while (!holds(this.calls)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export const placesOf = (event: KafkaEvent): string[] =>
  Object.values(event.records).flatMap((records) => records.map(({ partition, offset }) => `${partition}@${offset}`))

export const places = (partition: number, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${partition}@${from + index}`)
