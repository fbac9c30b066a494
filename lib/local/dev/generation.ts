import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * The number of a function's next deployment, kept beside the fence table and as long as it: functions with a number
 * below that of the fence records would stand down as containers of an older deployment (R14). For one process at a time.
 */
export function nextGeneration(file: string): number {
  const generation = lastGeneration(file) + 1
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${generation}\n`)
  return generation
}

function lastGeneration(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
