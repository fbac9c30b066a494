import { messageOf } from '../lib/errors.ts'

/** What a subject is asked to do, and what it answers: JSON, matched by order. */
export type Answer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly message: string }

/** In the subject: answers each question, and ends the process when the benchmark is gone. */
export function serve<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async (question: Question) => {
    process.send?.(
      await answer(question).then(
        (result): Answer => ({ ok: true, result }),
        (error): Answer => ({ ok: false, message: error instanceof Error ? (error.stack ?? '') : messageOf(error) }),
      ),
    )
  })
}
