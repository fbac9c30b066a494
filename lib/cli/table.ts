/** Rows as lines of text, each column as wide as its widest cell. Columns of numbers go to the right. */
export function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const isNumeric = header.map((_, column) => rows.every((row) => /^[\d,.-]*$/.test(row[column] ?? '')))
  return all.map((row) =>
    row
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}

/** An offset, which is a decimal string in JSON, with its digits grouped. */
export const offsetFigure = (offset: string | bigint | null): string =>
  offset === null ? '-' : BigInt(offset).toLocaleString('en')

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 min ago`, `in 4 s`. */
export function fromNow(atMs: number, nowMs: number): string {
  const ms = Math.abs(nowMs - atMs)
  const [unit, unitMs] = units.find(([, each]) => ms >= each) ?? ['ms', 1]
  const amount = `${Math.floor(ms / unitMs)} ${unit}`
  return atMs > nowMs ? `in ${amount}` : `${amount} ago`
}
