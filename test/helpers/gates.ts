import { bytes, defineRelay, nullable, topic } from '../../lib/index.ts'
import type { Names } from './containers.ts'

/** Holds whoever comes to it until it is opened. */
export interface Gate {
  /** Resolves when somebody has come. */
  readonly reached: Promise<void>
  open(): void
  pass(): Promise<void>
}

export function gate(): Gate {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass() {
      reached.resolve()
      return opened.promise
    },
  }
}

/** Copies as `copyRelay` does, after something else with each record. */
export const copyAfter =
  (before: (value: string) => void | Promise<void>) =>
  ({ source, output, dead }: Names) =>
    defineRelay({
      name: 'copy',
      source: topic(source, nullable(bytes())),
      outputs: { copy: topic(output, nullable(bytes())) },
      deadLetters: topic(dead),
      async transform(record, { emit }) {
        await before(String(record.value))
        emit.copy(record.value)
      },
    })
