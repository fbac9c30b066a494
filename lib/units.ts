/** Durations in milliseconds and sizes in bytes, so that a setting reads as it is spoken: `commitEveryMs: seconds(1)`. */
export const seconds = (count: number): number => count * 1_000
export const minutes = (count: number): number => seconds(count * 60)
export const hours = (count: number): number => minutes(count * 60)
export const days = (count: number): number => hours(count * 24)

export const kibibytes = (count: number): number => count * 1_024
export const mebibytes = (count: number): number => kibibytes(count * 1_024)

const durationUnitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: seconds(1),
  m: minutes(1),
  h: hours(1),
  d: days(1),
}

/** Milliseconds of `500ms`, `90s`, `30m`, `1h` or `7d`; null when it is not written so. */
export function durationMs(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})(ms|[smhd])$/.exec(text) ?? []
  return count === undefined ? null : Number(count) * (durationUnitsMs[unit] ?? 0)
}
