import { type Problem, refuseIfAny } from '../../lib/problems.ts'
import type { Template } from '../resources/all.ts'

type Section = Readonly<Record<string, unknown>>
const sections = ['Parameters', 'Resources', 'Outputs'] as const

/** `resources:` as the user wrote it, with ours added. @throws RelayError CONFIG_INVALID when both define the same id */
export function mergeTemplates(written: Section | undefined, ours: Template): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...written }
  const problems: Problem[] = []
  for (const name of sections) {
    const theirs: Section = { ...(written?.[name] as Section | undefined) }
    for (const id of Object.keys(ours[name]).filter((id) => id in theirs)) {
      const wanted = 'an id that Fencepost does not use; change what it makes by resources.extensions'
      problems.push({ path: `resources.${name}.${id}`, found: 'defined in serverless.yml', wanted, fix: 'rename it' })
    }
    if (Object.keys(ours[name]).length > 0) merged[name] = { ...theirs, ...ours[name] }
  }
  refuseIfAny('resources', problems)
  return merged
}
