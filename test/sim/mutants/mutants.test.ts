import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cells } from '../crash-matrix/cells.ts'
import { runCell } from '../crash-matrix/run-cell.ts'
import { bundleMutant } from './bundle-mutant.ts'
import { mutants } from './mutants.ts'

const dir = join(import.meta.dirname, '..', '..', '..', '.fencepost', 'test', 'mutants')

describe('the engine without a rule is caught by the crash matrix', () => {
  it.each(mutants)(
    '$breaks',
    async (mutant) => {
      const cell = cells.find(({ name }) => name === mutant.cell)
      if (cell === undefined) throw new Error(`no cell ${mutant.cell}`)
      await mkdir(dir, { recursive: true })
      const broken = await bundleMutant(mutant, join(dir, `${mutants.indexOf(mutant)}.mjs`))
      const { violations } = await broken.runCell(cell)
      expect(violations.filter((violation) => !violation.startsWith('the fault did not strike'))).not.toEqual([])
      expect((await runCell(cell)).violations).toEqual([])
    },
    60_000,
  )
})
