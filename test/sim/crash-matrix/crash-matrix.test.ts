import { describe, expect, it } from 'vitest'
import { controls } from '../controls/controls.ts'
import { cells, faults, followUps, impossible, sides } from './cells.ts'
import { runChain } from './chains.ts'
import { runCell } from './run-cell.ts'
import { lanes, steps } from './steps.ts'

const cellCalled = (name: string) => {
  const cell = cells.find((one) => one.name === name)
  if (cell === undefined) throw new Error(`no cell ${name}`)
  return cell
}

describe('the crash matrix', () => {
  it('has a cell, or a reason why not, for each step, side, fault, lane, generation of brokers and next ring', () => {
    const left = impossible.reduce((sum, { count }) => sum + count, 0)
    const product = 2 * lanes.length * steps.length * sides.length * faults.length * followUps.length
    expect(cells.length + left).toBe(product)
    expect(new Set(cells.map(({ name }) => name)).size).toBe(cells.length)
    expect(impossible.filter(({ reason }) => reason === '')).toEqual([])
    expect(new Set(cells.map(({ step }) => step.name)).size).toBe(steps.length)
  })

  /** A third of it: which ring is next alternates from cell to cell. `npm run crash-matrix` runs all. */
  const third = cells.filter((_, index) => index % followUps.length === Math.floor(index / followUps.length) % 3)

  it.each([1, 2] as const)(
    'loses nothing, doubles nothing, and every fault strikes at its step (protocol %i)',
    async (protocol) => {
      const wanted = third.filter((cell) => cell.protocol === protocol)
      const violated: string[] = []
      for (const cell of wanted) {
        const { name, struck, violations } = await runCell(cell)
        if (!struck || violations.length > 0) violated.push(`npm run crash-matrix -- --cell ${name}: ${violations[0]}`)
      }
      expect(wanted.length).toBeGreaterThan(200)
      expect(violated).toEqual([])
    },
    180_000,
  )

  it('loses nothing when three owners are struck one after the other', async () => {
    const struck = [0, 0, 0]
    for (let seed = 1; seed <= 150; seed++) {
      const { faults, violations } = await runChain(seed)
      expect(violations, `npm run crash-matrix -- --chain ${seed}`).toEqual([])
      for (const [index, fault] of faults.entries()) if (fault.struck) struck[index] = (struck[index] ?? 0) + 1
    }
    expect(Math.min(...struck)).toBeGreaterThan(50)
  }, 120_000)

  it.each([
    ['reads-before-barrier', 'kafka-4.handed-over.acquire.before.pause.same-event'],
    ['random-id', 'kafka-4.new.transform.before.pause.same-event'],
    ['new-sequence', 'kafka-4.handed-over.produce.after.lost-answer.same-event'],
    ['silence-is-success', 'kafka-4.new.commit-first.before.lost-answer.same-event'],
    ['ignores-token', 'kafka-4.new.note-dirty.before.pause.same-event'],
    ['silence-is-failure', 'kafka-4.handed-over.commit.after.lost-answer.same-event'],
    ['hides-silence', 'kafka-3.handed-over.commit.after.late-copy.same-event'],
  ])('is not blind: %s is caught in %s, where the relay as it is passes', async (name, cell) => {
    const sabotage = controls.find((control) => control.name === name)?.sabotage
    if (sabotage === undefined) throw new Error(`no control ${name}`)
    const broken = await runCell(cellCalled(cell), sabotage)
    expect(broken.struck).toBe(true)
    expect(broken.violations).not.toEqual([])
    expect((await runCell(cellCalled(cell))).violations).toEqual([])
  })
})
