import { RelayError } from '../../errors.ts'
import type { KafkaRecord } from '../../kafka/record.ts'
import type { EmitOptions } from '../definition/emit.ts'
import type { Topic } from '../definition/topic.ts'
import { recordId } from './source-record.ts'

/** An output under the name that `emit` has for it. */
export interface NamedOutput {
  readonly name: string
  readonly topic: Topic
}

/** One call of `emit.<output>`, not yet encoded. */
export interface Emission {
  readonly output: NamedOutput
  readonly value: unknown
  readonly options: EmitOptions
  /** The record that it comes from. */
  readonly source: KafkaRecord
}

/** `emit` as the runner makes it; its typed face is `Emit`. */
export type BoundEmit = Readonly<Record<string, (value: unknown, options?: EmitOptions) => void>>

const none: Emission[] = []

/**
 * One call of a transform and what it emitted. Each call has an `emit` of its own, so that work which was not awaited
 * can never emit into another record or a later window: it is told so, and `onLateEmit` makes the relay stop, because
 * the output is missing from a window that may have been committed.
 */
export class TransformCall {
  #emissions: Emission[] = none
  #state: 'running' | 'finished' | 'given up' = 'running'
  readonly #onLateEmit: (error: RelayError) => void

  constructor(onLateEmit: (error: RelayError) => void) {
    this.#onLateEmit = onLateEmit
  }

  add(emission: Emission): void {
    if (this.#state !== 'running') throw this.#tooLate(emission)
    if (this.#emissions.length > 0) this.#emissions.push(emission)
    else this.#emissions = [emission] // most emit once, and an empty array that is pushed to takes room for 17
  }

  get emissions(): readonly Emission[] {
    return this.#emissions
  }

  /** The transform is done: from now on an emit is a mistake in it. */
  finish(): this {
    this.#state = 'finished'
    return this
  }

  /** The transform threw or ran out of time: what it still emits is dropped with the attempt. */
  giveUp(): void {
    this.#state = 'given up'
  }

  #tooLate({ output, source }: Emission): RelayError {
    const error = new RelayError(
      'EMIT_TOO_LATE',
      `emit.${output.name} for record ${recordId(source)} was called after its transform was ${this.#state}; ` +
        'await everything that emits before the transform returns',
      { context: { output: output.name, topic: source.topic, partition: source.partition } },
    )
    if (this.#state === 'finished') this.#onLateEmit(error)
    return error
  }
}

/** The record that an output comes from: always the same, or told by the options of its emit. */
export type SourceOfOutput = KafkaRecord | ((options: EmitOptions) => KafkaRecord)

/** The `emit` of one call. */
export function bindEmit(outputs: readonly NamedOutput[], call: TransformCall, from: SourceOfOutput): BoundEmit {
  const emit: Record<string, BoundEmit[string]> = {}
  for (const output of outputs) {
    emit[output.name] = (value, options = noOptions) => {
      call.add({ output, value, options, source: typeof from === 'function' ? from(options) : from })
    }
  }
  return emit
}

const noOptions: EmitOptions = {}
