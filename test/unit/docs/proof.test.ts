import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { controls } from '../../sim/controls/controls.ts'
import { cells } from '../../sim/crash-matrix/cells.ts'
import { mutants } from '../../sim/mutants/mutants.ts'

const docs = join(import.meta.dirname, '..', '..', '..', 'docs')
const page = await readFile(join(docs, 'proof.md'), 'utf8')

/** A link to a test file, and the titles quoted behind it. */
const claims = [...page.matchAll(/\]\(\.\.\/(test\/[^)]+)\)((?:,? "(?:[^"\\]|\\.)*")+)/g)].flatMap(([, file, titles]) =>
  [...(titles ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, title]) => [String(file), String(title)] as const),
)

describe('docs/proof.md', () => {
  test.each(claims)('%s has the test "%s"', async (file, title) => {
    const source = (await readFile(join(docs, '..', file), 'utf8')).replaceAll("\\'", "'")
    expect(source).toContain(title.replaceAll('\\"', '"'))
  })

  test('has a row for every danger, with a test unless nothing is built yet', () => {
    const rows = Array.from(
      { length: 15 },
      (_, index) => page.match(new RegExp(`^\\| P${index + 1} \\|.*$`, 'm'))?.[0] ?? '',
    )
    expect(
      rows.flatMap((row, index) =>
        row.includes('.test.ts)') || row.includes('not exist yet') ? [] : [`P${index + 1}`],
      ),
    ).toEqual([])
    expect(claims.length).toBeGreaterThan(40)
  })

  test('names controls and mutants that there are, and counts what can be counted', () => {
    const quoted = [...page.matchAll(/`((?:[a-z]+-)+[a-z]+)`/g)].map(([, name]) => name)
    const others = ['random-ids'] // of chaos
    const known = [...controls.map(({ name }) => name), ...others]
    expect(quoted.filter((name) => name !== undefined && !known.includes(name))).toEqual([])
    expect(page).toContain(`in ${cells.length.toLocaleString('en')} ways`)
    expect(mutants.filter(({ breaks }) => !page.includes(`"${breaks}"`))).toEqual([])
  })
})
